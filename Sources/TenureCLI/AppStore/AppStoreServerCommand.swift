import ArgumentParser

struct AppStoreServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store",
        abstract: "Ask Apple's App Store Server API with the service's key.",
        subcommands: [AppStoreOrderCommand.self, AppStoreTestNotificationCommand.self]
    )
}
