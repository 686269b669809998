import ArgumentParser
import Foundation
import Logging
import TenureAppStore
import TenureCore
import TenureServer
import TenureStore

/// What `tenure serve` was told, by file, environment and command line, and all that is wrong with it.
struct ServiceSettings {
    /// nil where too little is known to make one. Of several apps that of the first, whose address is theirs.
    let configuration: ServiceConfiguration?
    /// Several apps behind one address; empty where there is one without a name.
    let apps: [AppConfiguration]
    let logLevel: Logger.Level
    let logsJSON: Bool
    let isCheck: Bool
    /// One line each.
    private(set) var mistakes: [String]
    /// What has no effect, such as variables that look like ours: a mistake to `--check`, a warning to a service that
    /// starts.
    let warnings: [String]

    /// Throws `ValidationError` for wrong usage of the command line.
    init(arguments: [String], environment: [String: String]) throws {
        var given = SettingValues()
        do {
            try given.read(arguments: arguments)
        } catch {
            throw ValidationError(error.description)
        }
        var values = SettingValues()
        if let file = given.text(.config) ?? environment[Setting.config.variable] {
            var file = ServiceFile(path: file)
            file.read(into: &values)
        }
        var warnings = values.read(environment: environment)
        do {
            try values.read(arguments: arguments)
        } catch {
            throw ValidationError(error.description)
        }
        isCheck = values.isOn(.check)
        logLevel = values.text(.logLevel).flatMap { Logger.Level(rawValue: $0) } ?? .info
        logsJSON =
            values.text(.logFormat) == "json" || (values.text(.logFormat) == "auto" && isatty(STDERR_FILENO) != 1)
        var mistakes = values.mistakes
        if values.apps.isEmpty {
            apps = []
            configuration = Self.configuration(values, mistakes: &mistakes)
            warnings += Self.idleHosts(values) + Self.contentWarnings(values, configuration)
            mistakes += configuration?.findings.map(\.description) ?? []
        } else {
            for setting in [Setting.policy, .database] where given.says(setting) {
                mistakes.append("each app has its own `\(setting.name)`; leave out `\(setting.flag)`")
            }
            for app in values.apps {
                warnings += Self.idleHosts(values.overlaid(by: app.values)).map { "the app `\(app.name)`: \($0)" }
            }
            apps = values.apps.compactMap { app in
                Self.configuration(values.overlaid(by: app.values), mistakes: &mistakes).map {
                    AppConfiguration(name: app.name, configuration: $0)
                }
            }
            configuration = apps.first?.configuration
            for app in values.apps {
                let known = apps.first { $0.name == app.name }?.configuration
                warnings += Self.contentWarnings(values.overlaid(by: app.values), known).map {
                    "the app `\(app.name)`: \($0)"
                }
            }
            // Each app's own are told with the rest; here it is how they go together.
            for app in apps {
                mistakes += app.configuration.findingsOfApp.map { "the app `\(app.name)`: \($0)" }
            }
            if mistakes.isEmpty, let mistake = AppConfiguration.mistake(in: apps) {
                mistakes.append(mistake.description)
            }
        }
        self.mistakes = mistakes
        self.warnings = warnings
    }

    /// Nobody asks an App Store without a key, wherever it is.
    private static func idleHosts(_ values: SettingValues) -> [String] {
        guard !hasKey(values) else { return [] }
        return [Setting.productionHost, .sandboxHost].filter { values.says($0) }.map {
            "`\($0.name)` has no effect without a key; name one by `\(Setting.keyID.name)`, or leave it out"
        }
    }

    /// What keeps content from being delivered, although the service starts.
    private static func contentWarnings(_ values: SettingValues, _ configuration: ServiceConfiguration?) -> [String] {
        guard values.says(.contentFolder) else {
            return ([.linkLifetime] + Setting.s3).filter { values.says($0) }.map {
                "`\($0.name)` has no effect without content; name its folder by `\(Setting.contentFolder.name)`"
            }
        }
        return configuration?.content?.catalogProblem(of: configuration?.policy.app.bundleID ?? "").map { ["\($0)"] }
            ?? []
    }

    fileprivate static func hasKey(_ values: SettingValues) -> Bool {
        [Setting.issuerID, .keyID, .privateKeyFile].contains { values.text($0) != nil }
    }

    private static func configuration(
        _ values: SettingValues, mistakes: inout [String]
    ) -> ServiceConfiguration? {
        var policy: Policy?
        if let path = values.text(.policy) {
            do throws(ServiceError) {
                policy = try ServiceConfiguration.readPolicy(at: path)
            } catch {
                mistakes.append(error.description)
            }
        } else {
            mistakes.append("there is no policy; name one by `--policy`, or by `policy` in the configuration")
        }
        // Without a policy the rest is looked at all the same, so that one run tells everything.
        guard let known = policy ?? (try? standIn) else { return nil }
        var configuration = ServiceConfiguration(databasePath: values.text(.database) ?? "", policy: known)
        configuration.set(from: values)
        configuration.webhooks = values.webhooks
        do {
            configuration.anchors = try TrustOptions(values).configuration().anchors
        } catch {
            mistakes += describe(error).split(separator: "\n").map(String.init)
        }
        if let path = values.text(.clock) {
            do throws(ServiceError) {
                configuration.clock = try RehearsalClock(path: path)
            } catch {
                mistakes.append(error.description)
            }
        }
        if let path = values.text(.adminKeyFile) {
            do {
                configuration.adminKey = String(
                    decoding: try SecretFile(path: path).existingContents(), as: UTF8.self
                ).trimmingCharacters(in: .whitespacesAndNewlines)
            } catch {
                mistakes.append(describe(error))
                // That there is none would be said beside it.
                configuration.adminKey = KeySecret().text
            }
        }
        for text in values.list(.behindProxy) ?? [] {
            guard let block = AddressBlock(text) else {
                mistakes.append(
                    "`behindProxy` lists addresses such as 127.0.0.1 and networks such as 10.0.0.0/8, and `\(text)` is none"
                )
                continue
            }
            configuration.proxies.append(block)
        }
        switch (values.text(.certificate), values.text(.certificateKey)) {
        case (let certificate?, let key?):
            configuration.certificateFiles = CertificateFiles(certificate: certificate, key: key)
        case (_?, nil): mistakes.append("`tls.certificate` needs its key; name it by `tls.key`")
        case (nil, _?): mistakes.append("`tls.key` needs its certificate; name it by `tls.certificate`")
        case (nil, nil): break
        }
        return configuration
    }

    private static var standIn: Policy {
        get throws {
            try Policy(
                app: Policy.App(bundleID: "com.example.unknown", appleID: 1),
                eras: [Era(name: "unknown", model: .free)], entitlements: [Entitlement(name: "unknown")])
        }
    }
}

extension ServiceConfiguration {
    /// What needs no reading of files and cannot be wrong any more. A new setting ends here.
    fileprivate mutating func set(from values: SettingValues) {
        host = values.text(.host) ?? host
        port = values.number(.port) ?? port
        keysFolder = values.text(.keys)
        transfer = values.text(.transfer).flatMap { Transfer(rawValue: $0) } ?? transfer
        deviceLimit = values.number(.deviceLimit) ?? deviceLimit
        webhookTerms.expiringDays = values.number(.expiringDays) ?? webhookTerms.expiringDays
        webhookTerms.retentionDays = values.number(.webhookRetentionDays) ?? webhookTerms.retentionDays
        if ServiceSettings.hasKey(values) {
            var settings = AppStoreSettings(
                issuerID: values.text(.issuerID) ?? "", keyID: values.text(.keyID) ?? "",
                privateKeyFile: values.text(.privateKeyFile) ?? "")
            settings.hosts.production = values.text(.productionHost) ?? settings.hosts.production
            settings.hosts.sandbox = values.text(.sandboxHost) ?? settings.hosts.sandbox
            appStore = settings
        }
        if let folder = values.text(.contentFolder) {
            content = ContentSettings(folder: folder)
            content?.linkLifetime = values.length(.linkLifetime) ?? 86_400
            if Setting.s3.contains(where: { values.says($0) }) { content?.s3 = S3Settings(values) }
        }
        allowsTestAnchorsBeyondLoopback = values.isOn(.testAnchorsBeyondLoopback)
        metrics = values.text(.metrics).flatMap { MetricsAccess(rawValue: $0) } ?? metrics
        limits.bodySize = values.number(.bodySize) ?? limits.bodySize
        limits.connections = values.number(.connections) ?? limits.connections
        limits.connectionsPerAddress = values.number(.connectionsPerAddress) ?? limits.connectionsPerAddress
        limits.bodyRate = values.number(.bodyRate) ?? limits.bodyRate
        timeouts.head = values.number(.headTimeout) ?? timeouts.head
        timeouts.body = values.number(.bodyTimeout) ?? timeouts.body
        timeouts.response = values.number(.responseTimeout) ?? timeouts.response
        timeouts.idle = values.number(.idleTimeout) ?? timeouts.idle
        timeouts.shutdown = values.number(.shutdownTimeout) ?? timeouts.shutdown
        rateLimits.perAddress = Rate(values.number(.addressRate), burst: values.number(.addressBurst))
        rateLimits.perToken = Rate(values.number(.tokenRate), burst: values.number(.tokenBurst))
    }
}

extension S3Settings {
    /// What is missing is empty, and becomes a mistake of the configuration.
    fileprivate init(_ values: SettingValues) {
        self.init(
            region: values.text(.s3Region) ?? "", bucket: values.text(.s3Bucket) ?? "",
            accessKeyID: values.text(.s3AccessKeyID) ?? "",
            secretAccessKeyFile: values.text(.s3SecretAccessKeyFile) ?? "")
        endpoint = values.text(.s3Endpoint) ?? ""
        prefix = values.text(.s3Prefix) ?? ""
        sessionTokenFile = values.text(.s3SessionTokenFile)
        urlStyle = values.text(.s3URLStyle).flatMap { URLStyle(rawValue: $0) } ?? urlStyle
    }
}

extension ServiceConfiguration.Rate {
    /// nil: no limit.
    fileprivate init?(_ perSecond: Int?, burst: Int?) {
        guard let perSecond, let burst, perSecond > 0 else { return nil }
        self.init(perSecond: Double(perSecond), burst: Double(burst))
    }
}

extension TrustOptions {
    /// Throws what is wrong with it.
    fileprivate init(_ values: SettingValues) throws {
        self.init()
        trust = values.list(.trust) ?? []
        environment = (values.list(.environments) ?? []).compactMap { EnvironmentName(argument: $0) }
        try validate()
    }
}
