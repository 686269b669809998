import ArgumentParser
import Foundation
import TenureServer

struct SigningKeyRootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "root", abstract: "Create and use an offline root key, on a machine without a network.",
        discussion: """
            Apps pin the root instead of a signing key. It signs the service's signing keys for a limited period, and \
            revokes them. Keep its file on two media in two places: without it, the service stops issuing entitlement \
            tokens when the signing period ends.
            """,
        subcommands: [
            SigningKeyRootCreateCommand.self, SigningKeyRootSignCommand.self, SigningKeyRootRevokeCommand.self,
        ])
}

struct SigningKeyRootCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an offline root key, and print its public key. Apps pin this public key.",
        discussion: """
            An existing root is never replaced. In that case, only its public key is printed.

            Exit codes: 0 printed, 1 the file can't be read or created, or others can read it, 64 wrong usage.

            Example:
              tenure signing-key root create root.json > root-public.json
            """)

    @Argument(help: "The file of the offline root key.") var file: String

    func run() async throws { terminal.write(try OfflineRoot(path: file).create()) }
}

struct SigningKeyRootSignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Let a signing key sign for a limited period, and print the statement to install.",
        discussion: """
            The service stops issuing tokens when the period ends, so sign again before that. A shorter period limits the \
            time in which a stolen key can be used on devices that don't receive its revocation.

            Exit codes: 0 printed, 1 a file can't be read, 64 wrong usage.

            Example:
              tenure signing-key root sign root.json --key next-public.json \\
                  --days 180 > statement.jwt
            """)

    @Argument(help: "The file of the offline root key.") var file: String

    @Option(help: "A file with the signing key's public key, as `tenure signing-key rotate` or `list` prints it.")
    var key: String

    @Option(help: "The length of the signing period, from now, in days: 1 to 730.") var days = 180

    func validate() throws {
        try require((1...730).contains(days), "`--days` must be a number from 1 to 730; found \(days)")
    }

    func run() async throws {
        let now = Date()
        let end = now.addingTimeInterval(TimeInterval(days) * 86_400)
        terminal.write(
            try OfflineRoot(path: file).sign(try SigningKeyInstallCommand.text(in: key), until: end, at: now))
    }
}

struct SigningKeyRootRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke signing keys, and print the new list of all revoked keys.",
        discussion: """
            Each list has a higher counter than the one before. Clients keep the keys of all lists that they receive.

            Exit codes: 0 printed, 1 the file can't be read or written, 64 wrong usage.

            Example:
              tenure signing-key root revoke root.json \\
                  kZ6Hb0R4c9XJ2oGq3yq0o1v3kS8c4w9xv5n2b7d1e0A > revocations.jwt
            """)

    @Argument(help: "The file of the offline root key.") var file: String

    @Argument(help: "The IDs of the keys to revoke, as `tenure signing-key list` prints them.")
    var ids: [String]

    @Option(
        help: """
            Give the list at least this counter. Needed only if the root's file is a restored older copy, which \
            doesn't know the counters of later lists. If the counter is too low, `tenure signing-key install` refuses \
            the list and prints the counter to pass.
            """)
    var counter: Int64?

    func validate() throws {
        try require(
            ids.allSatisfy { $0.utf8.count == 43 },
            "a key's ID has 43 characters; copy it from `tenure signing-key list`")
        try checkCounter(counter, upTo: 1_000_000_000)
    }

    func run() async throws {
        terminal.write(try OfflineRoot(path: file).revoke(ids, counter: counter, at: Date()))
    }
}
