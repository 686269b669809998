import ArgumentParser
import Foundation
import TenureCore
import TenureJSON
import TenureServer

struct SigningKeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the signing keys, and print what an app should pin.",
        discussion: """
            The last line is the public key to pin in the next release of the app, as a JSON Web Key: the offline root if \
            the service has one, otherwise the key in use. No private key is shown.

            Exit codes: 0 listed, 1 the file can't be read, 64 wrong usage.

            Example:
              tenure signing-key list --keys var/keys
            """
    )

    @OptionGroup var folder: KeysFolderOption

    func run() async throws {
        let summary = try folder.signingKeys.summary()
        let output = Terminal.standardOutput
        for key in summary.keys {
            output.write("\(key.id)  created \(key.createdAt.rfc3339)  \(Self.state(of: key))")
        }
        if let waiting = summary.waiting {
            output.write("waiting for the offline root's signature:")
            output.write(waiting)
        }
        switch summary.period {
        case .unlimited: break
        case .until(let end): output.write("the key in use may sign until \(end.rfc3339)")
        case .notSigned, .outdated:
            output.write(
                "no entitlement tokens are issued: the offline root hasn't signed the key in use; "
                    + "sign it with `tenure signing-key root sign`, and install the result with `tenure signing-key install`"
            )
        }
        output.write(summary.root == nil ? "pin the key in use:" : "pin the offline root:")
        output.write(summary.root ?? summary.inUse)
    }

    /// Returns the state of a key, such as `in use` or `revoked 2026-11-21T12:00:00Z`.
    private static func state(of key: SigningKeyAdministration.Summary.Key) -> String {
        if let revoked = key.revokedAt { return "revoked \(revoked.rfc3339)" }
        guard let retired = key.retiredAt else { return "in use" }
        return "replaced \(retired.rfc3339), "
            + (key.isInChain ? "apps that pinned it accept new tokens" : "apps that pinned it reject new tokens")
    }
}
