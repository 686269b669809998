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

extension RecordDatabaseOption {
    /// Opens the record for one piece of work. Throws where it is not there, unless it may be made.
    func withRecord<Result>(making: Bool = false, _ work: (any SQLStore) async throws -> Result) async throws -> Result
    {
        let store = try database.open(making: making)
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
