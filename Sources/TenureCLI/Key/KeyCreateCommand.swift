import ArgumentParser
import Foundation
import TenureServer
import TenureStore

struct KeyCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a key and print it, once: the record keeps only its hash.",
        discussion: """
            The audit trail names the key in everything that is done with it: make one for each person and each server.

            Exit codes: 0 made, 1 the name is taken or the record cannot be opened, 64 wrong usage.

            Example:
              tenure key create --scope support --name ada --database var/tenure.sqlite
            """
    )

    @Option(help: "admin, support, link, read or policy.")
    var scope: RecordedKey.Scope

    @Option(help: "What the audit trail calls who uses it.")
    var name: String

    @OptionGroup var record: RecordDatabaseOption

    func validate() throws {
        guard !name.isEmpty, name.utf8.count <= 64,
            name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw ValidationError("a name must have 1 to 64 printable ASCII characters and no spaces") }
        guard ![KeyGate.configuredName, consoleActor].contains(name) else {
            throw ValidationError("`\(name)` is reserved for the audit trail; choose another name")
        }
    }

    func run() async throws {
        try await reportingErrors {
            let database = record.database
            let makesRecord = !database.isPostgres && !FileManager.default.fileExists(atPath: database.text)
            let secret = KeySecret()
            let key = RecordedKey(name: name, scope: scope, createdAt: Date())
            let isNew = try await withRecord(database, making: true) {
                try await $0.create(key, secret: secret.hash, actor: consoleActor)
            }
            guard isNew else {
                throw CommandError("there is, or was, a key `\(name)`; names are never used again, so take another")
            }
            Terminal.standardOutput.write(secret.text)
            Terminal.standardError.write("keep it now: it is not shown again")
            if makesRecord { Terminal.standardError.write("there was no record: `\(database.name)` is a new one") }
        }
    }
}
