import ArgumentParser
import Foundation
import TenureCore
import TenureServer
import TenureStore

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
            """
    )

    @Option(
        help: "What the key permits: admin, support, link, read or policy. `tenure admin-key --help` explains them.")
    var scope: StoredAdminKey.Scope

    @Option(help: "The name that the audit trail shows.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "The file to write, with mode 600. Without this option, the key is printed.", valueName: "file"))
    var out: String?

    @OptionGroup var databaseOption: DatabaseOption

    func validate() throws {
        guard !name.isEmpty, name.utf8.count <= 64,
            name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw ValidationError("`--name` must have 1 to 64 printable ASCII characters and no spaces") }
        guard name.hidingCredentials == name else {
            throw ValidationError("`--name` is a key or another secret; pass a name, which everybody may read")
        }
        guard ![AdminKeyCheck.configuredName, commandActor].contains(name) else {
            throw ValidationError("`\(name)` is reserved for the audit trail; choose another name")
        }
    }

    func run() async throws {
        let secret = KeySecret()
        let key = StoredAdminKey(name: name, scope: scope, createdAt: Date())
        let isNew = try await databaseOption.selection().withStore { store in
            // Write the file before the key is stored, because a stored key without its secret would be useless.
            try out.map { try SecretFile(path: $0).make(Array((secret.text + "\n").utf8)) }
            do {
                let isNew = try await store.write(locking: [.adminKeys]) {
                    try $0.create(key, secret: secret.hash, actor: commandActor)
                }
                if !isNew { removeFile() }
                return isNew
            } catch {
                // The connection may have been lost after the key was stored.
                if let out, case StoreError.unreachable = error {
                    throw CommandError(
                        "\(describe(error)); if `tenure admin-key list` shows `\(name)`, the key in `\(out)` is valid; "
                            + "otherwise remove the file")
                }
                removeFile()
                throw error
            }
        }
        guard isNew else {
            throw CommandError(
                "the name `\(name)` is taken; names of revoked keys can't be used again, so choose another")
        }
        if let out { return Terminal.standardError.write("made `\(out)`") }
        Terminal.standardOutput.write(secret.text)
        Terminal.standardError.write("save this key now: it isn't shown again")
    }

    /// Removes the key's file after the key couldn't be stored.
    private func removeFile() {
        if let out { try? FileManager.default.removeItem(atPath: out) }
    }
}
