import ArgumentParser
import Foundation
import TenureServer
import TenureStore

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make, list and revoke keys to the admin interface.",
        discussion: """
            A key opens what its scope allows:
              admin    everything
              support  read, grant and revoke, link, merge, export
              link     link the app's users, for the app's own server
              read     find customers, see what they have and why
              policy   publish policies, make personas

            The service takes only keys that these commands made: 256 random bits with a checksum. Docs/admin.md has the \
            routes.
            """,
        subcommands: [KeyGenerateCommand.self, KeyCreateCommand.self, KeyListCommand.self, KeyRevokeCommand.self]
    )
}

extension RecordedKey.Scope: ExpressibleByArgument {}

/// As the audit trail calls who runs a command beside the record.
let consoleActor = "console"
