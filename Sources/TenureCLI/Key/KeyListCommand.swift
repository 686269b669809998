import ArgumentParser
import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

struct KeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List all keys, also the revoked ones; no secret is known any more.",
        discussion: """
            Example:
              tenure key list --database var/tenure.sqlite
            """
    )

    @OptionGroup var record: RecordDatabaseOption

    @Flag(help: "Write JSON: `keys` with `name`, `scope`, `createdAt`, `revokedAt`.")
    var json = false

    func run() async throws {
        try await reportingErrors {
            let keys = try await withRecord(record.database) { try await $0.keys() }
            guard json else {
                let width = keys.map(\.name.count).max() ?? 0
                for key in keys {
                    let end = key.revokedAt.map { "revoked \($0.rfc3339)" } ?? "good"
                    Terminal.standardOutput.write(
                        [
                            Terminal.clean(key.name).padding(toLength: width, withPad: " ", startingAt: 0),
                            key.scope.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0),
                            "made \(key.createdAt.rfc3339)", end,
                        ].joined(separator: "  "))
                }
                return
            }
            var writer = JSONWriter(.readable)
            writer.object { writer in
                writer.key("keys")
                writer.array(keys) { writer, key in
                    writer.object { writer in
                        writer.key("name")
                        writer.value(key.name)
                        writer.key("scope")
                        writer.value(key.scope.rawValue)
                        writer.key("createdAt")
                        writer.value(key.createdAt)
                        writer.key("revokedAt")
                        writer.value(key.revokedAt)
                    }
                }
            }
            Terminal.standardOutput.write(json: writer.bytes)
        }
    }
}
