import ArgumentParser

struct LocalStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "local-store",
        abstract: "A local App Store for tests: customers of every era, an adjustable clock, signed artifacts.",
        subcommands: [
            LocalStoreRunCommand.self, LocalStoreDoCommand.self, LocalStoreDeviceCommand.self,
            LocalStoreFaultCommand.self,
        ]
    )
}
