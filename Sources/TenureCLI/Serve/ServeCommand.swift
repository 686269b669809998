import ArgumentParser
import Foundation
import Logging
import TenureCore
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
            TLS certificate and the secrets of `content.s3` again; with several apps it does what `tenure apps reload` \
            does.

            Exit codes: 0 stopped by a signal, or --check found no mistakes; 1 couldn't start, failed, or --check found \
            mistakes; 64 wrong usage.

            Examples:
              tenure serve --policy policy.yaml --database var/tenure.sqlite
              tenure serve --config tenure.yaml --port 8081
              tenure serve --config tenure.yaml --check

            SETTINGS:
            \(Setting.help())
            """)

    // `ServiceSettings` parses these arguments, so ArgumentParser passes all of them on, even `--help`.
    @Argument(parsing: .captureForPassthrough, help: .hidden) var settings: [String] = []

    func run() async throws {
        guard settings.allSatisfy({ $0 != "--help" && $0 != "-h" }) else { throw CleanExit.helpRequest(Self.self) }
        let (arguments, environment) = (settings, ProcessInfo.processInfo.environment)
        let serviceSettings = try ServiceSettings(arguments: arguments, environment: environment)
        if serviceSettings.isCheck { return try await check(serviceSettings) }
        let configuration = try serviceSettings.validConfiguration()
        let logger = serviceSettings.logger
        for warning in serviceSettings.warnings { logger.warning("\(warning.hidingCredentials)") }
        if let apps = serviceSettings.apps {
            for app in apps.apps {
                Self.logFindings(about: app.configuration.policy, prefix: "app \(app.name): ", to: logger)
            }
            return try await Self.serve(apps, logger: logger) {
                try ServiceSettings(arguments: arguments, environment: environment, isReload: true)
            }
        }
        Self.logFindings(about: configuration.policy, to: logger)
        let store = try await Self.openPostgresStore(of: configuration, isOneOfSeveral: false, logger: logger)
        try await TenureServer.serve(configuration: configuration, store: store, logger: logger) { port in
            terminal.write("serving \(configuration.policy.app.bundleID) on \(configuration.url(port: port))")
        }
    }

    /// Returns the errors and warnings of `tenure policy check`, without the findings that the policy acknowledges
    /// (marks as intended).
    private static func unacknowledgedFindings(in policy: Policy) -> [LintFinding] {
        Linter.findings(in: policy, at: Date()).unacknowledged(.warning)
    }

    /// Logs the unacknowledged findings in a policy.
    private static func logFindings(about policy: Policy, prefix: String = "", to logger: Logger) {
        for finding in unacknowledgedFindings(in: policy) {
            let fix = finding.fix ?? "see `tenure policy check`"
            logger.warning("\(prefix)the policy: \(finding.message); \(fix) [\(finding.code)]")
        }
    }

    /// Opens the service's PostgreSQL database. Returns nil for an SQLite file, which the service opens itself.
    ///
    /// - Parameter isOneOfSeveral: whether the service has several apps, each with its own database.
    private static func openPostgresStore(
        of configuration: ServiceConfiguration, isOneOfSeveral: Bool, logger: Logger
    ) async throws -> Store? {
        let database = DatabaseArgument(argument: configuration.databasePath)
        guard database.isPostgres else { return nil }
        let primary = configuration.keysFolder.map { PrimaryFile(in: $0, writer: logger) }
        do {
            return try await database.open(
                configuration.openingOfDatabaseServer(isOneOfSeveral: isOneOfSeveral), primary: primary)
        } catch {
            throw configuration.explainingMissingDatabase(error)
        }
    }

    /// Serves several apps.
    ///
    /// - Parameter rereading: reads the settings again, for a reload.
    private static func serve(
        _ apps: AppsConfiguration, logger: Logger, rereading: @escaping @Sendable () throws -> ServiceSettings
    ) async throws {
        let names = apps.apps.map(\.name).joined(separator: ", ")
        let reread: AppsReader = {
            do {
                let settings = try rereading()
                return (
                    configuration: settings.apps.map { addingStoreOpeners(to: $0, logger: logger) },
                    mistakes: settings.mistakes + settings.reloadMistakes, warnings: settings.warnings
                )
            } catch {
                return (configuration: nil, mistakes: [describe(error)], warnings: [])
            }
        }
        try await TenureServer.serve(
            addingStoreOpeners(to: apps, logger: logger), reread: reread, logger: logger
        ) { port in
            terminal.write("serving \(names) on \(apps.common.url(port: port))")
        }
    }

    /// Returns the apps with `openStore`, the closure that opens an app's database.
    private static func addingStoreOpeners(to apps: AppsConfiguration, logger: Logger) -> AppsConfiguration {
        var apps = apps
        for index in apps.apps.indices {
            apps.apps[index].openStore = { configuration in
                if let keys = configuration.keysFolder {
                    try FileManager.default.createDirectory(
                        atPath: keys, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                }
                return try await openPostgresStore(of: configuration, isOneOfSeveral: true, logger: logger)
            }
        }
        return apps
    }

    /// Checks the settings without opening a port or creating a file. Warnings fail the check, too.
    private func check(_ settings: ServiceSettings) async throws {
        let configurations = settings.apps?.apps.map(\.configuration) ?? [settings.configuration].compactMap(\.self)
        var mistakes = settings.mistakes + Self.mistakesInDatabaseURLs(of: configurations) + settings.warnings
        if mistakes.isEmpty { mistakes += await Self.mistakesInConnectionLimits(of: configurations) }
        guard mistakes.isEmpty, let configuration = settings.configuration else {
            for mistake in mistakes { Terminal.standardError.write("error: \(mistake.hidingCredentials)") }
            throw ExitCode.error
        }
        guard let apps = settings.apps else { return show(configuration) }
        for app in apps.apps {
            terminal.write("app \(app.name)\(app.name == apps.defaultApp ? " (default)" : ""):")
            show(app.configuration)
        }
    }

    /// Returns the mistakes in the URLs of PostgreSQL databases, without passwords, and each URL once. Parses the URLs
    /// as a starting service does, and connects to no server.
    private static func mistakesInDatabaseURLs(of configurations: [ServiceConfiguration]) -> [String] {
        let urls = Set(configurations.map(\.databasePath)).filter(PostgresAddress.isPostgres)
        return urls.sorted().compactMap { url -> String? in
            do {
                _ = try PostgresAddress(url)
                return nil
            } catch {
                return describe(error)
            }
        }
    }

    /// Compares the connections that the service may open with the connections that its database servers allow. Warns
    /// about servers that can't be reached.
    private static func mistakesInConnectionLimits(of configurations: [ServiceConfiguration]) async -> [String] {
        let addresses = configurations.map(\.databasePath).filter(PostgresAddress.isPostgres)
            .compactMap { try? PostgresAddress($0) }
        var mistakes: [String] = []
        for report in await PostgresBudget.reports(for: addresses) {
            switch report.allowedConnections {
            case .success(let allowed) where allowed < report.neededConnections:
                mistakes.append(
                    "the service may open \(report.neededConnections) connections to `\(report.server)`, which allows \(allowed); "
                        + "lower `connections` in the database's URL, or raise PostgreSQL's `max_connections`")
            case .success: break
            case .failure(let error):
                let warning = "the database server can't be checked: \(error)"
                Terminal.standardError.write("warning: \(warning.hidingCredentials)")
            }
        }
        return mistakes
    }

    private func show(_ configuration: ServiceConfiguration) {
        for line in configuration.summary { terminal.write(line) }
        for finding in Self.unacknowledgedFindings(in: configuration.policy) {
            terminal.write(
                "  policy \(finding.severity.rawValue): \(Terminal.escaped(finding.message)) [\(finding.code)]")
        }
    }
}

extension ServiceSettings {
    /// The mistake that a reload has if `apps` was removed: a running service with several apps can't become a service
    /// with a single app. Otherwise empty. `apps` is nil, too, if it can't be read: then its own mistakes are reported.
    fileprivate var reloadMistakes: [String] {
        apps == nil && mistakes.isEmpty ? ["`apps` was removed; restore it, or restart the service"] : []
    }

    /// The logger of the service: JSON or text on standard error.
    fileprivate var logger: Logger {
        var logger = Logger(label: "tenure") { [logsJSON] label -> any LogHandler in
            if logsJSON { JSONLogHandler.standardError() } else { TextLogHandler(label: label) }
        }
        logger.logLevel = logLevel
        return logger
    }
}

extension ServiceConfiguration {
    /// Returns the URL of the service on a port.
    fileprivate func url(port: Int) -> String {
        "\(certificateFiles == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// A description of a service with this configuration, for `tenure serve --check`. Contains no secret.
    fileprivate var summary: [String] {
        func rate(_ rate: Rate) -> String {
            rate.perSecond > 0 ? "\(Int(rate.perSecond)) a second, \(Int(rate.burst)) at once" : "no limit"
        }
        func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
        let isOnServer = databasePath.contains("://")
        let isNew = !isOnServer && !FileManager.default.fileExists(atPath: databasePath)
        let database = isOnServer ? "a database server (connection not tested)" : databasePath
        let environments = AppStoreEnvironment.allCases.filter { anchors[$0] != nil }
        let withoutTLS = proxies.isEmpty ? "none, loopback only" : "by the proxy"
        return [
            "would serve \(policy.app.bundleID) on \(port == 0 ? "any free port of \(host)" : url(port: port))",
            "  policy: \(counted(policy.eras.count, "era")), \(counted(policy.entitlements.count, "entitlement"))",
            "  database: \(database)\(isNew ? " (would be created)" : "")",
            "  signing key: "
                + (hasSigningKey
                    ? "found" : "would be created; a database with customers needs the one that their apps trust"),
            "  environments: \(environments.map(\.rawValue).joined(separator: ", "))",
            "  trusted in addition to Apple: \(list(testAuthorities))",
            "  webhooks: \(list(webhooks.map(\.name)))",
            "  content: "
                + (content.map { content in
                    "\(content.folder), links for \(Int(content.linkLifetime)) s"
                        + (content.s3.map { " to the bucket \($0.bucket)" } ?? "")
                } ?? "none"),
            "  TLS: " + (certificateFiles.map { "certificate \($0.certificate), key \($0.key)" } ?? withoutTLS),
            "  proxies: \(list(proxies.map(\.description)))",
            "  admin key: \(adminKey == nil ? "none" : "set")",
            "  metrics: \(metrics.rawValue)",
            "  requests from one address: \(rate(rateLimits.perAddress))",
            "  requests with one token: \(rate(rateLimits.perToken))",
            """
              timeouts: head \(timeouts.head) s, response \(timeouts.response) s, idle \(timeouts.idle) s, \
            shutdown \(timeouts.shutdown) s
            """,
            "  clock: \(clock.map { "\($0.path), \($0.now.formatted(.iso8601))" } ?? "the system's")",
            "  connections: at most \(limits.connections), \(limits.connectionsPerAddress) from one address",
            """
              bodies: at most \(limits.bodySize) bytes, at least \(limits.bodyRate) bytes per second over \
            \(timeouts.body) seconds
            """,
        ]
    }
}
