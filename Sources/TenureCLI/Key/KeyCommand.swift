import ArgumentParser
import Foundation
import TenureServer
import TenureStore

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make, list and revoke keys to the admin interface.",
        discussion: """
            A key opens what its scope allows:
              admin    everything
              support  read, grant and revoke, link, merge, export
              link     link the app's users, for the app's own server
              read     find customers, see what they have and why

            Docs/admin.md has the routes.
            """,
        subcommands: [KeyCreateCommand.self, KeyListCommand.self, KeyRevokeCommand.self]
    )
}

/// The record whose keys are meant.
struct RecordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The record: the SQLite file of the service.", valueName: "file"))
    var database = "tenure.sqlite"

    /// Opens the record for one piece of work. Throws where it is not there, unless it may be made.
    func withRecord<Result>(mayCreate: Bool = false, _ work: (any Store) async throws -> Result) async throws -> Result
    {
        guard mayCreate || FileManager.default.fileExists(atPath: database) else {
            throw CommandError("there is no record `\(database)`; name it by --database")
        }
        let store = try SQLiteStore(path: database)
        do {
            let result = try await work(store)
            try await store.close()
            return result
        } catch {
            try? await store.close()
            throw error
        }
    }
}

extension RecordedKey.Scope: ExpressibleByArgument {}

/// As the audit trail calls who runs a command beside the record.
let consoleActor = "console"
