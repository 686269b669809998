import ArgumentParser
import Foundation
import TenureServer
import TenureStore

struct AdminKeyCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a key and print it once. The database keeps only its hash.",
        discussion: """
            The audit trail has the key's name in each line. Make one key for each person and each server.

            Exit codes: 0 made, 1 the name is taken or the database can't be opened, 64 wrong usage.

            Example:
              tenure admin-key create --scope support --name ada --database var/tenure.sqlite
            """
    )

    @Option(help: "admin, support, link, read or policy.")
    var scope: StoredAdminKey.Scope

    @Option(help: "The name that the audit trail shows.")
    var name: String

    @OptionGroup var databaseOption: DatabaseOption

    func validate() throws {
        guard !name.isEmpty, name.utf8.count <= 64,
            name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw ValidationError("a name must have 1 to 64 printable ASCII characters and no spaces") }
        guard ![AdminKeyCheck.configuredName, commandActor].contains(name) else {
            throw ValidationError("`\(name)` is reserved for the audit trail; choose another name")
        }
    }

    func run() async throws {
        let selection = try databaseOption.selection()
        let database = selection.database
        let isNewDatabase = !database.isPostgres && !FileManager.default.fileExists(atPath: database.text)
        let secret = KeySecret()
        let key = StoredAdminKey(name: name, scope: scope, createdAt: Date())
        let isNew = try await selection.open(creating: true) { store in
            try await store.write(locking: [.adminKeys]) {
                try $0.create(key, secret: secret.hash, actor: commandActor)
            }
        }
        guard isNew else {
            throw CommandError(
                "the name `\(name)` is taken; names of revoked keys can't be used again, so choose another")
        }
        Terminal.standardOutput.write(secret.text)
        Terminal.standardError.write("save it now: it isn't shown again")
        if isNewDatabase { Terminal.standardError.write("made a new database: `\(database.name)`") }
    }
}
