import ArgumentParser
import Foundation
import TenureServer
import TenureStore

struct DatabaseAcceptKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-keys",
        abstract: "Accept the keys of the next service that starts, after the previous keys were lost or replaced.",
        discussion: """
            The database stores fingerprints of the signing key and of the secret of access tokens. All services that \
            use the database must have these keys; a service with other keys doesn't start. This command removes the \
            fingerprints. Use it if the keys were lost, or replaced without `tenure signing-key`. The next service that \
            starts stores the fingerprints of its keys.

            Stop all services first. Apps trust entitlement tokens only if they pinned the new signing key, and every \
            device syncs again after the secret changed.

            Example:
              tenure database accept-keys --database var/tenure.sqlite
            """
    )

    @OptionGroup var options: DatabaseOption

    func run() async throws {
        let selection = try options.selection()
        try await selection.withStore { store in
            let storedKeys = try await store.write(locking: [SharedKeyIDs.lock]) { transaction in
                let storedKeys = try transaction.sharedKeyIDs()
                if let storedKeys {
                    try transaction.setSharedKeyIDs(nil)
                    try transaction.audit(
                        AuditEntry(
                            at: .now, actor: commandActor, action: "acceptKeys", customer: nil,
                            detail: ["signingKey": storedKeys.signingKey]))
                }
                return storedKeys
            }
            guard let storedKeys else {
                throw CommandError(
                    "`\(selection.database.name)` has no fingerprints of keys; the next service that starts stores those of its keys"
                )
            }
            Terminal.standardOutput.write(
                "the next service that starts may replace the keys from `\(Terminal.escaped(storedKeys.place))`")
        }
    }
}
