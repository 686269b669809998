import ArgumentParser
import Foundation
import TenureServer

struct SigningKeyRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Replace the signing key. Apps that pinned an older key accept the new one.",
        discussion: """
            The old key signs a statement about the new one, and is deleted. The statements make a chain of at most 16 \
            keys, in which each key vouches for the next one. If the service has an offline root, the new key isn't \
            used yet: sign the printed public key with `tenure signing-key root sign`, and pass the statement to `tenure \
            signing-key install`.

            Exit codes: 0 replaced, or waiting for the root; 1 the chain would get too long, or the file can't be read \
            or written; 64 wrong usage.

            Examples:
              tenure signing-key rotate --keys var/keys
              tenure signing-key rotate --keys var/keys --drop-oldest
            """
    )

    @OptionGroup var folder: KeysFolderOption

    @Flag(
        help: """
            If the new key is the 17th in the chain, drop the oldest key. Apps that pinned only that key then reject \
            new tokens.
            """)
    var dropOldest = false

    func run() async throws {
        switch try folder.signingKeys.rotate(droppingOldest: dropOldest, at: Date()) {
        case .rotated(let id, let publicKey):
            Terminal.standardError.write("the service signs with `\(id)` now; pin it in the next release:")
            Terminal.standardOutput.write(publicKey)
        case .waiting(let publicKey):
            Terminal.standardError.write(
                "sign this key with `tenure signing-key root sign`, then run `tenure signing-key install`:")
            Terminal.standardOutput.write(publicKey)
        }
    }
}
