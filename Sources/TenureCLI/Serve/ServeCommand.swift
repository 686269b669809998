import ArgumentParser
import Foundation
import Logging
import TenureAppStore
import TenureCore
import TenureServer

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the service: it verifies, records, decides and answers over HTTP.",
        discussion: """
            Every option can stand in a configuration file (YAML or JSON) under its name; an option given here wins. \
            Docs/service.md has the table. SIGINT and SIGTERM end it after it has finished what it accepted.

            Exit codes: 0 stopped by a signal, 1 could not start or failed, 64 wrong usage.

            Examples:
              tenure serve --policy policy.yaml --database var/tenure.sqlite
              tenure serve --config tenure.yaml --port 8081
            """
    )

    @Option(help: ArgumentHelp("A configuration file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The policy, in YAML or JSON.", valueName: "file"))
    var policy: String?

    @Option(
        help: ArgumentHelp("The SQLite file of the record; made if need be. Default: tenure.sqlite", valueName: "file"))
    var database: String?

    @Option(help: "The address to listen on. Default: 127.0.0.1")
    var host: String?

    @Option(help: "The port to listen on; 0 for any free one. Default: 8080")
    var port: Int?

    @OptionGroup var trust: TrustOptions

    @Option(help: ArgumentHelp("A file with the admin key, at least 32 random characters.", valueName: "file"))
    var adminKeyFile: String?

    @Flag(help: "A proxy in front speaks TLS with the clients.")
    var behindProxy = false

    @Flag(help: "Trust test anchors even beyond loopback: whoever signs with them owns everything.")
    var testAnchorsBeyondLoopback = false

    @Option(help: "trace, debug, info, notice, warning or error. Default: info")
    var logLevel: String?

    func run() async throws {
        try await reportingErrors {
            let file = try config.map { try ServiceFile(path: $0) } ?? ServiceFile()
            guard file.apps.isEmpty else {
                try await serve(file.apps, beside: file)
                return
            }
            let configuration = try configuration(of: file, beside: file)
            let bundleID = configuration.policy.app.bundleID
            try await TenureServer.serve(configuration: configuration, logger: try logger(file.logLevel)) { port in
                announce(bundleID, configuration.host, port)
            }
        }
    }

    private func announce(_ what: String, _ host: String, _ port: Int) {
        Terminal.standardOutput.write("serving \(what) on http://\(host.contains(":") ? "[\(host)]" : host):\(port)")
    }

    private func serve(_ apps: [ServiceFile.App], beside file: ServiceFile) async throws {
        guard policy == nil, database == nil else {
            throw ValidationError("each app has its own policy and database; leave out `--policy` and `--database`")
        }
        var configurations: [AppConfiguration] = []
        for app in apps {
            if let keys = app.settings.keys {
                try FileManager.default.createDirectory(
                    atPath: keys, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            configurations.append(
                AppConfiguration(name: app.name, configuration: try configuration(of: app.settings, beside: file)))
        }
        let host = host ?? file.host ?? "127.0.0.1"
        let names = apps.map(\.name).joined(separator: ", ")
        try await TenureServer.serve(apps: configurations, logger: try logger(file.logLevel)) { port in
            announce(names, host, port)
        }
    }

    /// What `own` says of one app, and `file` of the address.
    private func configuration(of own: ServiceFile, beside file: ServiceFile) throws -> ServiceConfiguration {
        guard let policyPath = policy ?? own.policy else {
            throw ValidationError("there is no policy; name one by `--policy`, or by `policy` in the configuration")
        }
        var configuration = ServiceConfiguration(
            databasePath: database ?? own.database ?? "tenure.sqlite",
            policy: try ServiceConfiguration.readPolicy(at: policyPath))
        configuration.keysFolder = own.keys
        var trusted = own
        trusted.trust = own.trust ?? file.trust
        trusted.environments = own.environments ?? file.environments
        configuration.anchors = try trust.merged(with: trusted).configuration().anchors
        configuration.webhooks = own.webhooks
        configuration.webhookTerms = own.webhookTerms
        configuration.host = host ?? file.host ?? configuration.host
        configuration.port = port ?? file.port ?? configuration.port
        if let adminKeyFile = adminKeyFile ?? file.adminKeyFile {
            let bytes = try InputFile(path: adminKeyFile).bytes(limit: 1 << 16)
            configuration.adminKey = String(decoding: bytes, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        configuration.isBehindProxy = behindProxy || file.behindProxy == true
        configuration.allowsTestAnchorsBeyondLoopback =
            testAnchorsBeyondLoopback || file.testAnchorsBeyondLoopback == true
        return configuration
    }

    private func logger(_ fileLevel: String?) throws -> Logger {
        var logger = Logger(label: "tenure") { StreamLogHandler.standardError(label: $0) }
        let name = logLevel ?? fileLevel ?? "info"
        guard let level = Logger.Level(rawValue: name) else {
            throw ValidationError("`\(name)` is no log level; write trace, debug, info, notice, warning or error")
        }
        logger.logLevel = level
        return logger
    }
}

extension TrustOptions {
    /// What the command line leaves out, the file says.
    func merged(with file: ServiceFile) throws -> TrustOptions {
        var merged = self
        if merged.trust.isEmpty { merged.trust = file.trust ?? [] }
        if merged.environment.isEmpty {
            merged.environment = try (file.environments ?? []).map { name in
                guard let environment = EnvironmentName(argument: name) else {
                    throw CommandError("`\(name)` is no environment; write production, sandbox or xcode")
                }
                return environment
            }
        }
        try merged.validate()
        return merged
    }
}
