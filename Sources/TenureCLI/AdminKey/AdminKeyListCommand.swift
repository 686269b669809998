import ArgumentParser
import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

struct AdminKeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List all admin keys, also revoked keys. Their secrets aren't stored.",
        discussion: """
            Example:
              tenure admin-key list --database var/tenure.sqlite
            """
    )

    @OptionGroup var databaseOption: DatabaseOption

    @Flag(help: "Write JSON: `keys` with `name`, `scope`, `createdAt`, `revokedAt`.")
    var json = false

    func run() async throws {
        let keys = try await databaseOption.selection().withStore { store in try await store.read { try $0.keys() } }
        guard json else {
            let width = keys.map(\.name.count).max() ?? 0
            for key in keys {
                let end = key.revokedAt.map { "revoked \($0.rfc3339)" } ?? "valid"
                Terminal.standardOutput.write(
                    [
                        Terminal.escaped(key.name).padding(toLength: width, withPad: " ", startingAt: 0),
                        key.scope.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0),
                        "made \(key.createdAt.rfc3339)", end,
                    ].joined(separator: "  "))
            }
            return
        }
        let fields = JSONWriter.object(.readable) { writer in
            writer.field("keys", keys) { writer, key in
                writer.object { writer in
                    writer.field("name", key.name)
                    writer.field("scope", key.scope.rawValue)
                    writer.field("createdAt", key.createdAt)
                    writer.field("revokedAt", key.revokedAt)
                }
            }
        }
        Terminal.standardOutput.write(json: fields)
    }
}
