import ArgumentParser
import Foundation
import TenureCore
import TenureJSON
import TenureServer

struct SigningKeyInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Install what the offline root signed: a key's signing period, or the revoked keys.",
        discussion: """
            The root's statement says until when a signing key may sign, or which keys are revoked. After `tenure \
            signing-key rotate`, the new key waits until the root has signed it: the service uses it when that \
            statement is installed. Pass the root's public key the first time. Another root is installed only with \
            --replace-root: apps that pinned the former root then reject new tokens.

            Exit codes: 0 installed, 1 the statement is refused or the file can't be read or written, 64 wrong usage.

            Examples:
              tenure signing-key install --keys var/keys \\
                  --root root-public.json statement.jwt
              tenure signing-key install --keys var/keys revocations.jwt
            """
    )

    @OptionGroup var folder: KeysFolderOption

    @Option(help: "A file with the root's public key, as `tenure signing-key root create` prints it.")
    var root: String?

    @Flag(help: "Replace the service's offline root. Apps that pinned only the former root then reject new tokens.")
    var replaceRoot = false

    @Flag(
        help: """
            If the new key is the 17th in the chain, in which each key vouches for the next one, drop the oldest key. \
            Apps that pinned only that key then reject new tokens.
            """)
    var dropOldest = false

    @Argument(help: "A file with what `tenure signing-key root sign` or `root revoke` printed.")
    var statement: String

    func run() async throws {
        let root = try root.map { try Self.text(in: $0) }
        let result = try folder.signingKeys.install(
            try Self.text(in: statement), ofRoot: root, droppingOldest: dropOldest,
            replacingRoot: replaceRoot, at: Date())
        let output = Terminal.standardOutput
        switch result {
        case .period(let end): output.write("the key in use may sign until \(end.rfc3339)")
        case .rotated(let end): output.write("the service signs with the new key now, until \(end.rfc3339)")
        case .revoked(let ids, let keysOutsideChain):
            output.write(
                ids.isEmpty ? "no key of this service is newly revoked" : "revoked: \(ids.joined(separator: ", "))")
            warnOfNeededUpdates(pinnedKeys: keysOutsideChain)
        }
    }

    /// Reads a small text file, such as a statement or a public key.
    static func text(in path: String) throws -> String {
        let bytes = try InputFile(path: path).bytes(limit: 64 << 10)
        guard let text = String(bytes: bytes, encoding: .utf8) else {
            throw CommandError("`\(path)` isn't a text file in UTF-8; check the path")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
