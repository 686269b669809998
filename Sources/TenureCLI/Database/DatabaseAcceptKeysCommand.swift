import ArgumentParser
import Foundation
import TenureServer
import TenureStore

struct DatabaseAcceptKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-keys",
        abstract: "Accept the keys of the next service that starts, after the previous ones were lost or replaced.",
        discussion: """
            The database names the signing key and the secret of access tokens that its processes have in common, and \
            refuses a process with others. This command forgets the names, for keys that are lost or were replaced in \
            another way than `tenure signing-key` does. The next service that starts stores those of its keys.

            Stop all services first. Apps trust entitlement tokens only if they pinned the new signing key, and every \
            device syncs again after the secret changed.

            Example:
              tenure database accept-keys --database var/tenure.sqlite
            """
    )

    @OptionGroup var options: DatabaseOption

    func run() async throws {
        let selection = try options.selection()
        try await selection.open { store in
            let known = try await store.write(locking: [SharedKeys.lock]) { transaction in
                let known = try transaction.sharedKeys()
                if let known {
                    try transaction.setSharedKeys(nil)
                    try transaction.audit(
                        AuditEntry(
                            at: .now, actor: commandActor, action: "acceptKeys", customer: nil,
                            detail: ["signingKey": known.signingKey]))
                }
                return known
            }
            guard let known else {
                throw CommandError("`\(selection.database.name)` has no stored keys; the next start stores its own")
            }
            Terminal.standardOutput.write(
                "the next service that starts may replace the keys from `\(Terminal.clean(known.place))`")
        }
    }
}
