import ArgumentParser

struct ContentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "content",
        abstract: "Publish asset packs: files that a purchase unlocks.",
        discussion: """
            Docs/content.md explains how to publish packs, serve them and use them in the app.

            Example:
              tenure content check content.yaml --policy policy.yaml
              tenure content publish content.yaml --key policy-key.pem --to published
            """,
        subcommands: [
            ContentCheckCommand.self, ContentPublishCommand.self, ContentListCommand.self, ContentPruneCommand.self,
            ContentEmbedCommand.self,
        ]
    )
}
