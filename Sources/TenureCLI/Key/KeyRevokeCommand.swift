import ArgumentParser
import Foundation
import TenureStore

struct KeyRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a key: a running service refuses it from the next request on.",
        discussion: """
            Exit codes: 0 revoked, 1 no good key has that name, 64 wrong usage.

            Example:
              tenure key revoke ada --database var/tenure.sqlite
            """
    )

    @Argument(help: "The name of the key.")
    var name: String

    @OptionGroup var record: RecordDatabaseOption

    func run() async throws {
        try await reportingErrors {
            let key = try await withRecord(record.database) {
                try await $0.revokeKey(named: name, at: Date(), actor: consoleActor)
            }
            guard key != nil else {
                throw CommandError("there is no active key `\(name)`; `tenure key list` shows all keys")
            }
            Terminal.standardOutput.write("revoked `\(name)`")
        }
    }
}
