import ArgumentParser
import Foundation
import TenureServer

struct SigningKeyRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Stop trusting a signing key that may have been stolen.",
        discussion: """
            Removes the key from the published key set. The key and all older keys also leave the chain: the statements \
            in which each key vouches for the next one. If the key is in use, the key that waits for the offline root, or \
            a new key, replaces it. No older key vouches for the replacement. So apps that pinned the revoked key, or an \
            older one, need an update. For apps that pinned an offline root, also revoke the key with the root: see \
            `tenure signing-key root revoke`.

            Exit codes: 0 revoked, 1 no such key or the file can't be read or written, 64 wrong usage.

            Example:
              tenure signing-key revoke \\
                  --keys var/keys kZ6Hb0R4c9XJ2oGq3yq0o1v3kS8c4w9xv5n2b7d1e0A
            """
    )

    @OptionGroup var folder: KeysFolderOption

    @Argument(help: "The key's ID, as `tenure signing-key list` prints it.")
    var id: String

    func run() async throws {
        let keysOutsideChain = try folder.signingKeys.revoke(id, at: Date())
        Terminal.standardOutput.write("revoked `\(id)`")
        warnOfNeededUpdates(pinnedKeys: keysOutsideChain)
        let summary = try folder.signingKeys.summary()
        if summary.period == .notSigned {
            Terminal.standardError.write(
                """
                warning: the service issues no entitlement tokens until the offline root signs its new key; run \
                `tenure signing-key root sign` with this key, then `tenure signing-key install`:
                """)
            Terminal.standardOutput.write(summary.inUse)
        }
    }
}
