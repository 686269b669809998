import ArgumentParser
import Foundation
import LocalAppStore
import TenureCore
import TenureMint

struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Rehearse a story: customers of every era, and what each must be able to use.",
        subcommands: [ScenarioRunCommand.self]
    )
}

struct ScenarioRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Play scenarios against a policy, and check what they expect.",
        discussion: """
            A local App Store goes through the story and signs everything; what the customers' devices and the \
            notifications prove is decided under the policy. Docs/local-app-store.md describes the file.

            With --service the story is played against a running service over HTTP, which decides under its own policy \
            and by its own clock: what the story expects must hold at that time, too. The service must trust the \
            authority.

            Exit codes: 0 all as expected, 2 something is not, 1 error, 64 wrong usage.

            Examples:
              tenure scenario run Examples/scenarios/calculator-disaster.yaml
              tenure scenario run --policy policy.yaml Examples/scenarios/calculator-disaster.yaml
              tenure scenario run --service http://127.0.0.1:8080 --authority ./authority story.yaml
            """
    )

    @Argument(help: "The scenarios; - for standard input.")
    var files: [String]

    @Option(help: ArgumentHelp("The policy; without it the one that a scenario names.", valueName: "file"))
    var policy: String?

    @Option(help: ArgumentHelp("A running service, instead of deciding here.", valueName: "url"))
    var service: String?

    @Option(help: ArgumentHelp("The folder of the test authority that signs; without it a new one.", valueName: "dir"))
    var authority: String?

    @Flag(name: .shortAndLong, help: "Name what is as expected, too.")
    var verbose = false

    func validate() throws {
        if service != nil, policy != nil {
            throw ValidationError("a service decides under its own policy; leave `--policy` out")
        }
        if service != nil, authority == nil {
            throw ValidationError("name the test authority that the service trusts, by `--authority`")
        }
    }

    func run() async throws {
        let hasDifferences = try await reportingErrors {
            var hasDifferences = false
            let authority =
                try self.authority.map { try TestAuthority(directory: URL(fileURLWithPath: $0)) }
                ?? TestAuthority(seed: "scenarios")
            for file in files {
                let disk = ScenarioOnDisk(path: file)
                let scenario = try disk.read()
                let outcomes = try await play(scenario, of: disk, authority: authority)
                if tell(scenario, outcomes) { hasDifferences = true }
            }
            return hasDifferences
        }
        if hasDifferences { throw ExitCode.refused }
    }

    private func play(
        _ scenario: Scenario, of disk: ScenarioOnDisk, authority: TestAuthority
    ) async throws -> [ScenarioRun.Outcome] {
        let signer = StoreSigner(authority: authority)
        if let service {
            return try await ScenarioRun(scenario, signer: signer, service: HTTPService(url: service)).play()
        }
        guard let path = policy ?? scenario.policy.map(disk.neighbour) else {
            throw CommandError("`\(disk.path)` names no policy; name one by --policy")
        }
        let service = try DecidingService(
            policy: try PolicyOnDisk(path: path).read(), anchors: try authority.anchors,
            environment: scenario.founding.environment)
        return try await ScenarioRun(scenario, signer: signer, service: service).play()
    }

    /// Whether anything was otherwise than expected.
    private func tell(_ scenario: Scenario, _ outcomes: [ScenarioRun.Outcome]) -> Bool {
        let terminal = Terminal.standardOutput
        let differences = outcomes.filter { $0.difference != nil }
        let verdict =
            differences.isEmpty
            ? terminal.styled("as expected", .green) : terminal.styled("\(differences.count) differ", .red)
        terminal.write(
            "\(terminal.styled(Terminal.clean(scenario.name), .bold)): \(outcomes.count) checked, \(verdict)")
        for outcome in outcomes where verbose || outcome.difference != nil {
            let it = outcome.expectation
            let words = outcome.difference ?? "\(it.customer), \(it.entitlement): \(it.outcome.rawValue)"
            terminal.write("  \(it.place): \(outcome.date.rfc3339), \(Terminal.clean(words))")
        }
        return !differences.isEmpty
    }
}
