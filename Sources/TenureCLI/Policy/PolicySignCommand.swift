import ArgumentParser
import Crypto
import Foundation
import TenureCore
import TenurePolicyFile

struct PolicySignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign a policy, so that apps take it from any web server.",
        discussion: """
            Apps that pin the public half of the key (`tenure policy key` prints it) take the policy with the highest counter
            that they ever saw, and never an older one. Without --counter the counter is the time in seconds since 1970.
            With --force, --out may be the file with the policy that was signed before: then the new counter must be higher
            than its own.

            Exit codes: 0 written, 2 mistakes in the policy, 1 error, 64 wrong usage.

            Example:
              tenure policy sign policy.yaml --key policy-key.pem --out tenure-policy.jws
            """
    )

    @Argument(help: "The policy, in YAML or JSON; - for standard input.")
    var file: String

    @Option(help: ArgumentHelp("The private key, from `tenure policy key`.", valueName: "file"))
    var key: String

    @Option(help: "A whole number that is higher than that of every policy signed before.")
    var counter: Int64?

    @Option(help: ArgumentHelp("Where to write; without it, standard output.", valueName: "file"))
    var out: String?

    @OptionGroup var replacing: ReplaceOption

    func validate() throws {
        guard counter.map({ (1...SignedPolicy.largestCounter).contains($0) }) ?? true else {
            throw ValidationError("a counter is a whole number between 1 and \(SignedPolicy.largestCounter)")
        }
    }

    func run() async throws {
        try await reportingErrors {
            let source = PolicyOnDisk(path: file)
            var plan = FilePlan()
            plan.reads(source)
            plan.reads(self.key)
            plan.writes(out)
            try plan.check(replacing: replacing.force)
            let key = try PolicySigningKey.read(self.key, makingIfMissing: false)
            let policy: Policy
            do {
                policy = try source.read()
            } catch let error as PolicyFileError {
                for mistake in error.mistakes { Terminal.standardError.write(mistake.description) }
                throw ExitCode.refused
            }
            let now = Date()
            let counter = self.counter ?? Int64(now.timeIntervalSince1970)
            if let previous = try previousCounter(of: policy, signedBy: key), counter <= previous {
                throw CommandError(
                    "the counter \(counter) is not higher than that of `\(out ?? "")`, which is \(previous); write `--counter \(previous + 1)`"
                )
            }
            let signed = try SignedPolicy(policy, counter: counter, issuedAt: now, by: key)
            try OutputFile(path: out, replaces: replacing.force).write(Array(signed.text.utf8))
            Terminal.standardError.write("signed with the counter \(counter)")
        }
    }

    /// Of the signed policy that is about to be replaced; nil where there is none.
    private func previousCounter(of policy: Policy, signedBy key: P256.Signing.PrivateKey) throws -> Int64? {
        guard let out, FileManager.default.fileExists(atPath: out) else { return nil }
        let bytes = try InputFile(path: out).bytes(limit: 2 << 20)
        do {
            return try SignedPolicy.verify(
                bytes, keys: [PinnedKey(key.publicKey)], bundleID: policy.app.bundleID
            ).counter
        } catch {
            throw CommandError(
                "`\(out)` would be replaced, and is no earlier policy of this app and key (\(error)); remove it, or write elsewhere"
            )
        }
    }
}
