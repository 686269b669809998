import ArgumentParser
import Foundation
import LocalAppStore
import Logging
import TenureCore
import TenureJSON
import TenureMint
import TenureServer

struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Test a scenario: customers who got the app at different times, and what each must be able to use.",
        subcommands: [ScenarioRunCommand.self, ScenarioSettingsCommand.self])
}

struct ScenarioRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run scenarios with a policy, and check their expectations.",
        discussion: """
            A local App Store performs the scenario's operations and signs everything. The command also runs a service, \
            like `tenure serve`. The service connects to the local App Store instead of Apple's App Store, and uses the \
            local App Store's clock. Customers sync, notifications arrive and histories are fetched over HTTP, on this \
            machine. Docs/scenarios.md describes scenario files.

            --service names a running service, which has its own policy. It must trust the test authority in --folder or \
            --authority. If it was started with the settings that `tenure scenario settings` prints for the folder and \
            --local-store-port, it fetches histories from the local App Store and uses its clock. Otherwise it knows only \
            what it receives and uses real time, so the expectations must be true at the real time.

            Exit codes: 0 all as expected, 2 something differs, 1 error, 64 wrong usage.

            Examples:
              tenure scenario run Examples/scenarios/calculator-disaster.yaml
              tenure scenario run \\
                  --policy policy.yaml Examples/scenarios/calculator-disaster.yaml
              tenure scenario run --service http://127.0.0.1:8080 --folder var/scenario \\
                  --local-store-port 8090 story.yaml
            """)

    @Argument(help: "The scenarios; - for standard input.") var files: [String]

    @Option(help: .value("file", "The policy. Default: the policy that the scenario names."))
    var policy: String?

    @Option(help: .value("url", "The URL of a running service. By default, the command runs one."))
    var service: String?

    @Option(help: .value("dir", "The folder that `tenure scenario settings` wrote for that service."))
    var folder: String?

    @Option(
        help: ArgumentHelp(
            """
            The port of the local App Store that this command runs for the service of `--service`. Pass the port that \
            you passed to `tenure scenario settings`. Without it, the service can't reach the local App Store.
            """, valueName: "port"))
    var localStorePort: Int?

    @Option(help: .value("dir", "The folder of the test authority that signs. Default: a new authority."))
    var authority: String?

    @Flag(name: .shortAndLong, help: "Print the expectations that are met too.") var verbose = false

    func validate() throws {
        try require(service == nil || policy == nil, "a running service has its own policy; leave out `--policy`")
        try require(
            service == nil || (authority == nil) != (folder == nil),
            "`--service` needs the test authority that the service trusts; pass either `--folder` or `--authority`")
        try require(
            service != nil || folder == nil,
            "`--folder` is the folder of a running service; pass the service's URL with `--service`")
        try require(
            service != nil || localStorePort == nil,
            "`--local-store-port` is for a running service; pass the service's URL with `--service`")
        let port = localStorePort ?? 0
        try require((0...65_535).contains(port), "`--local-store-port` must be a port from 0 to 65535; found \(port)")
    }

    func run() async throws {
        var hasDifferences = false
        let authorityPath = self.authority ?? folder.map { $0 + "/authority" }
        let authority =
            try authorityPath.map { try TestAuthority(readFrom: URL(fileURLWithPath: $0)) } ?? TestAuthority()
        for file in files {
            let source = ScenarioOnDisk(path: file)
            let scenario = try source.read()
            let outcomes = try await play(scenario, from: source, authority: authority)
            report(outcomes, of: scenario)
            if outcomes.contains(where: { $0.difference != nil }) { hasDifferences = true }
        }
        if hasDifferences { throw ExitCode.refused }
    }

    /// Runs a scenario with the service of `--service`, or else with a service in this process.
    private func play(
        _ scenario: Scenario, from source: ScenarioOnDisk, authority: TestAuthority
    ) async throws -> [ScenarioRun.Outcome] {
        let signer = AppStoreSigner(authority: authority)
        if let service {
            let scenarioFolder = try folder.map {
                try ScenarioFolder(at: $0, seed: Self.seed, now: scenario.header.now, authority: authority)
            }
            let adminKey = try scenarioFolder.map { folder in
                String(decoding: try InputFile(path: folder.adminKeyFile).bytes(limit: 1 << 16), as: UTF8.self)
            }
            let outside = OutsideService(
                client: ServiceUnderTest(url: service, adminKey: adminKey),
                key: try scenarioFolder?.key ?? ServerAPIKey(seed: Self.seed), localStorePort: localStorePort ?? 0,
                clock: scenarioFolder?.clock)
            return try await ScenarioRun(scenario, signer: signer, service: outside).play()
        }
        guard let path = policy ?? scenario.policy.map(source.resolvedPath) else {
            throw CommandError("`\(source.path)` doesn't name a policy; pass a policy with --policy")
        }
        // Reports mistakes in the policy before anything runs.
        _ = try PolicyOnDisk(path: path).read()
        let service = InProcessService(policy: path, authority: authority, logger: logger) { configuration in
            // Fetch the history of a new customer at once. By default, the service looks for new customers every 5
            // seconds.
            configuration.appStoreIdle = 0.02
        }
        return try await ScenarioRun(scenario, signer: signer, service: service).play()
    }

    /// The seed of the API key with which a service outside this process signs its requests to the local App Store.
    /// `tenure scenario settings` has the same seed, so both commands make the same key.
    static let seed = "scenarios"

    private var logger: Logger {
        var logger = Logger(label: "tenure") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .warning : .critical
        return logger
    }

    /// Prints the outcomes that differ. With `--verbose`, prints all outcomes.
    private func report(_ outcomes: [ScenarioRun.Outcome], of scenario: Scenario) {
        let differences = outcomes.count { $0.difference != nil }
        let verdict =
            differences == 0
            ? terminal.styled("as expected", .green)
            : terminal.styled(differences == 1 ? "1 differs" : "\(differences) differ", .red)
        terminal.write(
            "\(terminal.styled(Terminal.escaped(scenario.name), .bold)): \(outcomes.count) checked, \(verdict)")
        for outcome in outcomes where verbose || outcome.difference != nil {
            let expected = outcome.expectation
            let words =
                outcome.difference ?? "\(expected.customer), \(expected.entitlement): \(expected.outcome.rawValue)"
            terminal.write("  \(expected.position): \(outcome.date.rfc3339), \(Terminal.escaped(words))")
        }
    }
}

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
            """)

    @Option(help: .value("dir", "The folder to write.")) var folder = "var/scenario"

    @Option(
        help: .value(
            "port", "The port of the local App Store that `tenure scenario run` starts. Pass the same port there."))
    var localStorePort = 8090

    func validate() throws {
        try require(
            (1...65_535).contains(localStorePort),
            "`--local-store-port` must be a port from 1 to 65535; found \(localStorePort)")
    }

    func run() async throws {
        let folder = try ScenarioFolder(at: folder, seed: ScenarioRunCommand.seed, now: Date())
        for (option, value) in folder.settings(localStorePort: localStorePort) {
            terminal.write("\(option) \(value)")
        }
    }
}
