import ArgumentParser
import Foundation
import TenureStore

struct AdminKeyRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke an admin key. A running service rejects it from the next request on.",
        discussion: """
            Exit codes: 0 revoked, 1 no valid key has that name, or the database can't be opened, 64 wrong usage.

            Example:
              tenure admin-key revoke ada --database var/tenure.sqlite
            """
    )

    @Argument(help: "The name of the key.")
    var name: String

    @OptionGroup var databaseOption: DatabaseOption

    func run() async throws {
        let key = try await databaseOption.selection().withStore { store in
            try await store.write(locking: [.adminKeys]) { try $0.revokeKey(named: name, actor: commandActor) }
        }
        guard key != nil else {
            throw CommandError("there is no valid key `\(name)`; `tenure admin-key list` shows all keys")
        }
        Terminal.standardOutput.write("revoked `\(name)`")
    }
}
