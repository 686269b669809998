import ArgumentParser
import Foundation
import TenureJSON
import TenureServer

struct SigningKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing-key", abstract: "List, rotate and revoke the keys that sign entitlement tokens.",
        discussion: """
            An entitlement token tells an app without a network what its customer may use. Apps pin a key, and accept only \
            tokens from this key, or from a later key for which it vouches.

            Run `list`, `rotate`, `revoke` and `install` on a machine with the service's folder of keys. Running services \
            read changed keys within a second. Run `root` on a machine without a network. Docs/signing-keys.md explains \
            when to use which command.
            """,
        subcommands: [
            SigningKeyListCommand.self, SigningKeyRotateCommand.self, SigningKeyRevokeCommand.self,
            SigningKeyInstallCommand.self, SigningKeyRootCommand.self,
        ])
}

/// The option that all subcommands of `signing-key` share, except `root`.
struct KeysFolderOption: ParsableArguments {
    @Option(help: "The service's folder of keys, which contains `signing-key.json`.") var keys = "."

    /// The keys in the folder.
    var signingKeys: SigningKeyAdministration { SigningKeyAdministration(folder: keys) }
}

/// Warns that apps with these pinned keys need an update. Does nothing if `keys` is empty.
func warnOfNeededUpdates(pinnedKeys keys: [String]) {
    guard !keys.isEmpty else { return }
    Terminal.standardError.write(
        "warning: apps that pinned only these keys, and no offline root, reject new entitlement tokens: "
            + keys.joined(separator: ", ")
            + "; release an update of those apps with a key from `tenure signing-key list`")
}

struct SigningKeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the signing keys, and print what an app should pin.",
        discussion: """
            The last line is the public key to pin in the next release of the app, as a JSON Web Key: the offline root if \
            the service has one, otherwise the key in use. No private key is shown.

            Exit codes: 0 listed, 1 the file can't be read, 64 wrong usage.

            Example:
              tenure signing-key list --keys var/keys
            """)

    @OptionGroup var folder: KeysFolderOption

    func run() async throws {
        let summary = try folder.signingKeys.summary()
        for key in summary.keys {
            terminal.write("\(key.id)  created \(key.createdAt.rfc3339)  \(Self.state(of: key))")
        }
        if let waiting = summary.waiting { terminal.write("waiting for the offline root's signature:\n\(waiting)") }
        switch summary.period {
        case .unlimited: break
        case .until(let end): terminal.write("the key in use may sign until \(end.rfc3339)")
        case .notSigned, .outdated:
            terminal.write(
                "no entitlement tokens are issued: the offline root hasn't signed the key in use; "
                    + "sign it with `tenure signing-key root sign`, and install the result with `tenure signing-key install`"
            )
        }
        terminal.write(summary.root == nil ? "pin the key in use:" : "pin the offline root:")
        terminal.write(summary.root ?? summary.inUse)
    }

    /// Returns the state of a key, such as `in use` or `revoked 2026-11-21T12:00:00Z`.
    private static func state(of key: SigningKeyAdministration.Summary.Key) -> String {
        if let revoked = key.revokedAt { return "revoked \(revoked.rfc3339)" }
        guard let retired = key.retiredAt else { return "in use" }
        return "replaced \(retired.rfc3339), "
            + (key.isInChain ? "apps that pinned it accept new tokens" : "apps that pinned it reject new tokens")
    }
}

struct SigningKeyRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replace the signing key. Apps that pinned an older key accept the new one.",
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
            """)

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
            terminal.write(publicKey)
        case .waiting(let publicKey):
            Terminal.standardError.write(
                "sign this key with `tenure signing-key root sign`, then run `tenure signing-key install`:")
            terminal.write(publicKey)
        }
    }
}

struct SigningKeyRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Stop trusting a signing key that may have been stolen.",
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
            """)

    @OptionGroup var folder: KeysFolderOption

    @Argument(help: "The key's ID, as `tenure signing-key list` prints it.") var id: String

    func run() async throws {
        let keysOutsideChain = try folder.signingKeys.revoke(id, at: Date())
        terminal.write("revoked `\(id)`")
        warnOfNeededUpdates(pinnedKeys: keysOutsideChain)
        let summary = try folder.signingKeys.summary()
        if summary.period == .notSigned {
            Terminal.standardError.write(
                """
                warning: the service issues no entitlement tokens until the offline root signs its new key; run \
                `tenure signing-key root sign` with this key, then `tenure signing-key install`:
                """)
            terminal.write(summary.inUse)
        }
    }
}

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
            """)

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
        switch result {
        case .period(let end): terminal.write("the key in use may sign until \(end.rfc3339)")
        case .rotated(let end): terminal.write("the service signs with the new key now, until \(end.rfc3339)")
        case .revoked(let ids, let keysOutsideChain):
            terminal.write(
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
