import ArgumentParser
import TenureServer

struct SigningKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing-key",
        abstract: "List, rotate and revoke the keys that sign entitlement tokens.",
        discussion: """
            An entitlement token tells an app without a network what its customer may use. Apps pin a key, and accept only \
            tokens that this key signed, or a later key for which it vouches.

            Run `list`, `rotate`, `revoke` and `install` on a machine with the service's folder of keys. Running services \
            read changed keys within a second. Run `root` on a machine without a network. Docs/signing-keys.md explains \
            when to use which command.
            """,
        subcommands: [
            SigningKeyListCommand.self, SigningKeyRotateCommand.self, SigningKeyRevokeCommand.self,
            SigningKeyInstallCommand.self, SigningKeyRootCommand.self,
        ]
    )
}

/// The option that all subcommands of `signing-key` share, except `root`.
struct KeysFolderOption: ParsableArguments {
    @Option(help: "The service's folder of keys, which contains `signing-key.json`.")
    var keys = "."

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
