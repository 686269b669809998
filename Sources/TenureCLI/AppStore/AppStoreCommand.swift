import ArgumentParser

struct AppStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "appstore",
        abstract: "A local App Store: customers who bought years ago, a clock to turn, everything signed.",
        discussion: "`test-notification` and `order` ask Apple's.",
        subcommands: [
            AppStoreRunCommand.self, AppStoreDoCommand.self, AppStoreDeviceCommand.self, AppStoreTroubleCommand.self,
            AppStoreTestNotificationCommand.self, AppStoreOrderCommand.self,
        ]
    )
}
