import ArgumentParser

struct LocalStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "local-store",
        abstract: "Run an App Store for tests on your machine, with invented customers and an adjustable clock.",
        subcommands: [
            LocalStoreRunCommand.self, LocalStoreDoCommand.self, LocalStoreDeviceCommand.self,
            LocalStoreFaultCommand.self,
        ]
    )
}
