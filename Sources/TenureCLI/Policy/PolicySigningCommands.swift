import ArgumentParser
import Crypto
import Foundation
import TenureCore
import TenurePolicyFile
import TenureServer

struct PolicySignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign a policy, so that apps accept it from any web server.",
        discussion: """
            Apps pin the public key, which `tenure policy signing-key` prints. They accept the policy with the highest \
            counter, and never an older one. Without --counter, the counter is the time in seconds since 1970. With \
            --force, --out may replace the earlier signed policy; the new counter must then be higher.

            Exit codes: 0 written, 2 mistakes in the policy, 1 error, 64 wrong usage.

            Example:
              tenure policy sign policy.yaml --key policy-key.pem --out tenure-policy.jws
            """)

    @Argument(help: "The policy, in YAML or JSON; - for standard input.") var file: String

    @Option(help: .value("file", "The private key, from `tenure policy signing-key`."))
    var key: String

    @Option(
        help:
            "A whole number, higher than that of every earlier signed policy. Default: the time in seconds since 1970.")
    var counter: Int64?

    @Option(help: .value("file", "The file to write. Default: standard output.")) var out: String?

    @OptionGroup var replacing: ReplaceOption

    func validate() throws { try checkCounter(counter) }

    func run() async throws {
        let source = PolicyOnDisk(path: file)
        try FilePlan(reading: source.files + [self.key], writing: [out]).check(replacing: replacing.force)
        let key = try policySigningKey(at: self.key)
        let policy = try printingMistakes { try source.read() }
        let now = Date()
        let counter = self.counter ?? Int64(now.timeIntervalSince1970)
        if let previous = try previousCounter(of: policy, signedBy: key), counter <= previous {
            throw CommandError(
                "the counter \(counter) isn't higher than that of `\(out ?? "")`, which is \(previous); write `--counter \(previous + 1)`"
            )
        }
        let signed = try SignedPolicy(policy, counter: counter, issuedAt: now, by: key)
        try OutputFile(path: out, replaces: replacing.force).write(Array(signed.text.utf8))
        Terminal.standardError.write("signed with the counter \(counter)")
    }

    /// Returns the counter of the signed policy that `--out` replaces; nil if the file doesn't exist. Throws if the
    /// file isn't a policy of this app that `key` signed.
    private func previousCounter(of policy: Policy, signedBy key: P256.Signing.PrivateKey) throws -> Int64? {
        guard let out, FileManager.default.fileExists(atPath: out) else { return nil }
        let bytes = try InputFile(path: out).bytes(limit: 2 << 20)
        do {
            return try SignedPolicy.verify(
                bytes, keys: [PinnedKey(key.publicKey)], bundleID: policy.app.bundleID
            ).counter
        } catch {
            throw CommandError(
                "`\(out)` isn't an earlier policy of this app, signed with this key (\(error)), so it isn't replaced; remove it, or write to another file"
            )
        }
    }
}

struct PolicySigningKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing-key",
        abstract: "Create the key that signs policies, and print its public key for the app.",
        discussion: """
            If the file exists, the command only prints its public key and never replaces it. Keep the file, and a copy, \
            with the keys that sign your app. Only you may read it (mode 600).

            Exit codes: 0 printed, 1 the file can't be read or written, or others can read it, 64 wrong usage.

            Example:
              tenure policy signing-key policy-key.pem
            """)

    @Argument(help: "The key's PEM file.") var file: String

    func run() async throws {
        terminal.write(PinnedKey(try policySigningKey(at: file, makingIfMissing: true).publicKey).text)
    }
}

/// Reads the private key that signs policies and catalogs of asset packs.
///
/// - Parameter makingIfMissing: whether to create the file with a new key if it doesn't exist.
func policySigningKey(at path: String, makingIfMissing: Bool = false) throws -> P256.Signing.PrivateKey {
    let file = SecretFile(path: path)
    let contents =
        makingIfMissing
        ? try file.contents { Array(P256.Signing.PrivateKey().pemRepresentation.utf8) }
        : try file.existingContents()
    do {
        return try P256.Signing.PrivateKey(pemRepresentation: String(decoding: contents, as: UTF8.self))
    } catch {
        throw CommandError("`\(path)` contains no P-256 key in PEM; make one with `tenure policy signing-key`")
    }
}
