import ArgumentParser

#if !Service
    #error("the command needs the package trait `Service`: build with `make`, or with `swift build --traits Service`")
#endif

@main struct Tenure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenure",
        abstract: "Change your app's business model, and keep every promise to the people who already paid.",
        version: "0.1.0",
        subcommands: [
            InspectCommand.self, DecideCommand.self, PolicyCommand.self, RehearseCommand.self, MintCommand.self,
            ServeCommand.self,
            DemoCommand.self, RecordCommand.self, KeyCommand.self, SigningKeyCommand.self,
            WebhookCommand.self, AppStoreCommand.self,
            ScenarioCommand.self, PersonaCommand.self,
        ]
    )

    static func main() async {
        ProxySettings.exceptThisMachine()
        await main(nil)
    }
}
