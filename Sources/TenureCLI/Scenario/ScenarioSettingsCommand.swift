import ArgumentParser
import Foundation
import LocalAppStore

struct ScenarioSettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Write the settings and files for a service that uses the local App Store of `tenure scenario run`.",
        discussion: """
            The folder gets a test authority, the key with which the service signs its requests to the local App Store, \
            an admin key, and the clock. Existing files are kept. The command prints options for the command line of \
            `tenure serve`.

            Exit codes: 0 written, 1 error, 64 wrong usage.

            Example:
              tenure serve --policy policy.yaml $(tenure scenario settings \\
                  --folder var/scenario --local-store-port 8090)
              tenure scenario run --service http://127.0.0.1:8080 --folder var/scenario \\
                  --local-store-port 8090 story.yaml
            """
    )

    @Option(help: ArgumentHelp("The folder to write.", valueName: "dir"))
    var folder = "var/scenario"

    @Option(
        help: ArgumentHelp(
            "The port of the local App Store that `tenure scenario run` starts. Pass the same port there.",
            valueName: "port"))
    var localStorePort = 8090

    func validate() throws {
        guard (1...65_535).contains(localStorePort) else {
            throw ValidationError("`--local-store-port` must be a port from 1 to 65535; found \(localStorePort)")
        }
    }

    func run() async throws {
        let folder = try ScenarioFolder(at: folder, seed: ScenarioRunCommand.seed, now: Date())
        for (option, value) in folder.settings(localStorePort: localStorePort) {
            Terminal.standardOutput.write("\(option) \(value)")
        }
    }
}
