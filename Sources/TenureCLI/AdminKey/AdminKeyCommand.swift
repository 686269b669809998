import ArgumentParser
import Foundation
import TenureCore
import TenureJSON
import TenureServer
import TenureStore

struct AdminKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin-key", abstract: "Make, list and revoke keys for the admin API.",
        discussion: """
            Each key has a scope, which says what its requests may do.

              admin    everything.
              support  what read permits; also grant, revoke, link, merge and export.
              link     link the app's users; for the server of the app.
              read     find customers, and see which entitlements they have and why.
              policy   publish policies and make personas.

            The service accepts only keys that these commands made: 256 random bits with a checksum. Docs/admin.md lists \
            the routes.
            """,
        subcommands: [
            AdminKeyGenerateCommand.self, AdminKeyCreateCommand.self, AdminKeyListCommand.self,
            AdminKeyRevokeCommand.self,
        ])
}

extension StoredAdminKey.Scope: ExpressibleByArgument {}

/// The name in the audit trail for changes that a `tenure` command makes directly in the database, without an admin
/// key.
let commandActor = "command"

struct AdminKeyGenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Generate the admin key for the setting `adminKeyFile`.",
        discussion: """
            Writes the key to a new file with mode 600, or prints it. This key allows every request. For people and \
            servers, create separate keys with `tenure admin-key create`. You can revoke each of them.

            Exit codes: 0 made, 1 the file exists or can't be written, 64 wrong usage.

            Examples:
              tenure admin-key generate --out /etc/tenure/admin-key
              tenure admin-key generate | kubectl create secret generic tenure \\
                  --from-file=admin-key=/dev/stdin
            """)

    @Option(help: .value("file", "The file to write. By default, the command prints the key."))
    var out: String?

    func run() async throws {
        let key = KeySecret()
        guard let out else { return terminal.write(key.text) }
        try SecretFile(path: out).make(Array((key.text + "\n").utf8))
        Terminal.standardError.write("made `\(out)`")
    }
}

struct AdminKeyCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make an admin key. Print it once, or write it to a file. The database keeps only its hash.",
        discussion: """
            The audit trail shows which key made each change, by the key's name. So make one key for each person and \
            each server. The database must exist: the first start of `tenure serve` creates it.

            Exit codes: 0 made, 1 the name is taken, the database can't be opened, or the file exists or can't be \
            written, 64 wrong usage.

            Example:
              tenure admin-key create --scope support --name ada --out ada.key \\
                  --database var/tenure.sqlite
            """)

    @Option(
        help: "What the key permits: admin, support, link, read or policy. `tenure admin-key --help` explains them.")
    var scope: StoredAdminKey.Scope

    @Option(help: "The name that the audit trail shows.") var name: String

    @Option(help: .value("file", "The file to write, with mode 600. Without this option, the key is printed."))
    var out: String?

    @OptionGroup var databaseOption: DatabaseOption

    func validate() throws {
        try require(
            (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F },
            "`--name` must have 1 to 64 printable ASCII characters and no spaces")
        try require(
            name.hidingCredentials == name,
            "`--name` is a key or another secret; pass a name, which everybody may read")
        try require(
            ![AdminKeyCheck.configuredName, commandActor].contains(name),
            "`\(name)` is reserved for the audit trail; choose another name")
    }

    func run() async throws {
        let secret = KeySecret()
        let key = StoredAdminKey(name: name, scope: scope, createdAt: Date())
        let isNew = try await databaseOption.selection().withStore { store in
            // Write the file first. If that fails, no key is stored: a stored key without its secret would be useless.
            if let out { try SecretFile(path: out).make(Array((secret.text + "\n").utf8)) }
            do {
                let isNew = try await store.write(locking: [.adminKeys]) {
                    try $0.create(key, secret: secret.hash, actor: commandActor)
                }
                if !isNew { removeKeyFile() }
                return isNew
            } catch {
                // The connection may have been lost after the key was stored, so keep the file.
                if let out, case StoreError.unreachable = error {
                    throw CommandError(
                        "\(describe(error)); if `tenure admin-key list` shows `\(name)`, the key in `\(out)` is valid; "
                            + "otherwise remove the file")
                }
                removeKeyFile()
                throw error
            }
        }
        guard isNew else {
            throw CommandError(
                "the name `\(name)` is taken; names of revoked keys can't be used again, so choose another")
        }
        if let out { return Terminal.standardError.write("made `\(out)`") }
        terminal.write(secret.text)
        Terminal.standardError.write("save this key now: it isn't shown again")
    }

    /// Removes the file with the secret, if there is one. Call this if the key wasn't stored.
    private func removeKeyFile() { if let out { try? FileManager.default.removeItem(atPath: out) } }
}

struct AdminKeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all keys, including revoked ones. Their secrets aren't stored.",
        discussion: """
            Example:
              tenure admin-key list --database var/tenure.sqlite
            """)

    @OptionGroup var databaseOption: DatabaseOption

    @Flag(help: "Write JSON: `keys` with `name`, `scope`, `createdAt`, `revokedAt`.")
    var json = false

    func run() async throws {
        let keys = try await databaseOption.selection().withStore { store in try await store.read { try $0.keys() } }
        if json {
            let fields = JSONWriter.object(.readable) { writer in
                writer.objects("keys", keys) { writer, key in
                    writer.field("name", key.name)
                    writer.field("scope", key.scope.rawValue)
                    writer.field("createdAt", key.createdAt)
                    writer.field("revokedAt", key.revokedAt)
                }
            }
            return terminal.write(json: fields)
        }
        let width = keys.map(\.name.count).max() ?? 0
        for key in keys {
            let name = Terminal.escaped(key.name).padding(toLength: width, withPad: " ", startingAt: 0)
            // The longest scope, `support`, has 7 letters.
            let scope = key.scope.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
            let end = key.revokedAt.map { "revoked \($0.rfc3339)" } ?? "valid"
            terminal.write("\(name)  \(scope)  made \(key.createdAt.rfc3339)  \(end)")
        }
    }
}

struct AdminKeyRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke an admin key. A running service rejects it from the next request on.",
        discussion: """
            Exit codes: 0 revoked, 1 no valid key has that name, or the database can't be opened, 64 wrong usage.

            Example:
              tenure admin-key revoke ada --database var/tenure.sqlite
            """)

    @Argument(help: "The name of the key.") var name: String

    @OptionGroup var databaseOption: DatabaseOption

    func run() async throws {
        let key = try await databaseOption.selection().withStore { store in
            try await store.write(locking: [.adminKeys]) { try $0.revokeKey(named: name, actor: commandActor) }
        }
        guard key != nil else {
            throw CommandError("there is no valid key `\(name)`; `tenure admin-key list` shows all keys")
        }
        terminal.write("revoked `\(name)`")
    }
}
