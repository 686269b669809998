import ArgumentParser
import Foundation
import TenureServer
import TenureStore

struct AdminKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin-key",
        abstract: "Make, list and revoke keys for the admin API.",
        discussion: """
            Each key has a scope, which says what its requests may do.

              admin    everything.
              support  what read permits; also grant, revoke, link, merge and export.
              link     link the app's users; for the server of the app.
              read     find customers, and see which entitlements they have and why.
              policy   publish policies and make personas.

            The service accepts only keys that these commands made: 256 random bits with a checksum. Docs/admin.md lists \
            the routes.
            """,
        subcommands: [
            AdminKeyGenerateCommand.self, AdminKeyCreateCommand.self, AdminKeyListCommand.self,
            AdminKeyRevokeCommand.self,
        ]
    )
}

extension StoredAdminKey.Scope: ExpressibleByArgument {}

/// The actor in the audit trail for changes that a command makes in the database.
let commandActor = "command"
