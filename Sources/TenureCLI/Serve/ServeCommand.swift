import ArgumentParser
import Foundation
import Logging
import TenureCore
import TenurePolicyFile
import TenurePolicyLint
import TenurePostgres
import TenureServer
import TenureStore

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the service, which verifies artifacts, stores them and decides, over HTTP.",
        usage: "tenure serve --policy <file> [--database <file>] [--config <file>] [--check] [settings ...]",
        discussion: """
            Every setting can be in a configuration file (YAML or JSON), in the environment and on the command line. \
            The command line overrides the environment, which overrides the file. Docs/configuration.md lists all \
            settings. SIGINT and SIGTERM stop the service after it has completed accepted requests. SIGHUP reads the \
            TLS certificate and the secrets of `content.s3` again.

            Exit codes: 0 stopped by a signal, or --check found no mistakes; 1 couldn't start, failed, or --check found \
            mistakes; 64 wrong usage.

            Examples:
              tenure serve --policy policy.yaml --database var/tenure.sqlite
              tenure serve --config tenure.yaml --port 8081
              tenure serve --config tenure.yaml --check

            SETTINGS:
            \(Setting.help())
            """
    )

    // `Setting.all` parses them and describes them in the help.
    @Argument(parsing: .captureForPassthrough, help: .hidden)
    var settings: [String] = []

    func run() async throws {
        guard settings.allSatisfy({ $0 != "--help" && $0 != "-h" }) else { throw CleanExit.helpRequest(Self.self) }
        let settings = try ServiceSettings(
            arguments: settings, environment: ProcessInfo.processInfo.environment)
        try await reportingErrors {
            if settings.isCheck { return try await check(settings) }
            guard settings.mistakes.isEmpty, let configuration = settings.configuration else {
                throw CommandError(settings.mistakes.joined(separator: "\n"))
            }
            let logger = settings.logger
            for warning in settings.warnings { logger.warning("\(warning.hidingCredentials)") }
            for app in settings.apps { Self.warn(of: app.configuration.policy, in: "app \(app.name): ", to: logger) }
            if settings.apps.isEmpty { Self.warn(of: configuration.policy, to: logger) }
            let address = ServiceAddress(configuration)
            if !settings.apps.isEmpty {
                return try await serve(settings.apps, at: address, logger: logger)
            }
            let store = try await Self.store(of: configuration)
            try await TenureServer.serve(configuration: configuration, store: store, logger: logger) { port in
                Terminal.standardOutput.write("serving \(configuration.policy.app.bundleID) on \(address.url(port))")
            }
        }
    }

    /// The linter's errors and warnings about a policy, without acknowledged ones.
    private static func objections(to policy: Policy) -> [LintFinding] {
        Linter.findings(in: policy, at: Date()).unacknowledged(.warning)
    }

    private static func warn(of policy: Policy, in app: String = "", to logger: Logger) {
        for finding in objections(to: policy) {
            logger.warning(
                "\(app)the policy: \(finding.message); \(finding.fix ?? "see `tenure policy check`") [\(finding.code)]")
        }
    }

    /// Nil for an SQLite file, which the service opens itself.
    private static func store(of configuration: ServiceConfiguration) async throws -> Store? {
        let database = DatabaseArgument(argument: configuration.databasePath)
        guard database.isPostgres else { return nil }
        return try await database.open(DatabaseOpening(bundleID: configuration.policy.app.bundleID))
    }

    private func serve(_ apps: [AppConfiguration], at address: ServiceAddress, logger: Logger) async throws {
        var apps = apps
        for index in apps.indices {
            let configuration = apps[index].configuration
            apps[index].open = {
                if let keys = configuration.keysFolder {
                    try FileManager.default.createDirectory(
                        atPath: keys, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                }
                return try await Self.store(of: configuration)
            }
        }
        let names = apps.map(\.name).joined(separator: ", ")
        try await TenureServer.serve(apps: apps, logger: logger) { port in
            Terminal.standardOutput.write("serving \(names) on \(address.url(port))")
        }
    }

    /// Checks the settings without opening a port or creating a file.
    private func check(_ settings: ServiceSettings) async throws {
        var mistakes = settings.mistakes + settings.warnings
        if mistakes.isEmpty {
            let configurations =
                settings.apps.isEmpty ? [settings.configuration].compactMap(\.self) : settings.apps.map(\.configuration)
            let servers = await Self.databaseServers(of: configurations)
            mistakes += servers.mistakes
            for warning in servers.warnings { Terminal.standardError.write("warning: \(warning.hidingCredentials)") }
        }
        guard mistakes.isEmpty, let configuration = settings.configuration else {
            for mistake in mistakes { Terminal.standardError.write("error: \(mistake.hidingCredentials)") }
            throw ExitCode.error
        }
        for app in settings.apps {
            Terminal.standardOutput.write("app \(app.name):")
            show(app.configuration)
        }
        guard settings.apps.isEmpty else { return }
        show(configuration)
    }

    /// Compares the connections that the service may open with those that its database servers allow.
    private static func databaseServers(
        of configurations: [ServiceConfiguration]
    ) async -> (mistakes: [String], warnings: [String]) {
        let addresses = configurations.map(\.databasePath).filter(PostgresAddress.isPostgres)
            .compactMap { try? PostgresAddress($0) }
        var (mistakes, warnings): ([String], [String]) = ([], [])
        for report in await PostgresBudget.reports(for: addresses) {
            switch report.allowed {
            case .success(let allowed) where allowed < report.needed:
                mistakes.append(
                    "the service may open \(report.needed) connections to `\(report.server)`, which allows \(allowed); "
                        + "lower `connections` in the database's URL, or raise the server's `max_connections`")
            case .success: break
            case .failure(let error): warnings.append("the database server can't be checked: \(error)")
            }
        }
        return (mistakes, warnings)
    }

    private func show(_ configuration: ServiceConfiguration) {
        for line in ServiceSummary(configuration).lines { Terminal.standardOutput.write(line) }
        for finding in Self.objections(to: configuration.policy) {
            Terminal.standardOutput.write(
                "  policy \(finding.severity.rawValue): \(Terminal.clean(finding.message)) [\(finding.code)]")
        }
    }
}

extension ServiceSettings {
    fileprivate var logger: Logger {
        var logger = Logger(label: "tenure") { [logsJSON] label -> any LogHandler in
            if logsJSON { JSONLogHandler.standardError() } else { TextLogHandler(label: label) }
        }
        logger.logLevel = logLevel
        return logger
    }
}
