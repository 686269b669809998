import ArgumentParser
import Foundation
import Logging
import TenureAppStore
import TenureCore
import TenureServer
import TenureStore

/// The settings of `tenure serve` from file, environment and command line, with all mistakes in them.
struct ServiceSettings {
    /// The configuration, which is usable only if there are no mistakes. Nil if none could be made. If there are
    /// several apps, it has the settings that all apps share, such as the address of the service.
    let configuration: ServiceConfiguration?
    /// The apps of a service with several apps. Nil for a service with a single app, and if `apps` can't be read.
    let apps: AppsConfiguration?
    let logLevel: Logger.Level
    /// Whether the log is JSON, not text.
    let logsJSON: Bool
    /// Whether the user passed `--check`: the settings are checked, and the service doesn't start.
    let isCheck: Bool
    /// The mistakes, one line each.
    private(set) var mistakes: [String]
    /// Warnings, for example about settings without effect, such as variables with unknown names. `--check` fails on
    /// them, and a starting service logs them.
    let warnings: [String]

    /// Reads the settings.
    ///
    /// - Parameter isReload: whether the settings are for a running service. If so, `--new-database`, which was for its
    ///   start, is ignored.
    /// - Throws: `ValidationError` for wrong usage of the command line.
    init(arguments: [String], environment: [String: String], isReload: Bool = false) throws {
        // The command line is read twice: first because it may name the configuration file, and at the end because it
        // overrides the file and the environment.
        var commandLine = SettingValues()
        do {
            try commandLine.read(arguments: arguments)
        } catch {
            throw ValidationError(error.description)
        }
        var values = SettingValues()
        if let file = commandLine.text(.config) ?? environment[Setting.config.variable] {
            var file = ServiceFile(path: file)
            file.read(into: &values)
        }
        var warnings = values.read(environment: environment)
        // Reading the same arguments threw no error above, so it throws none here.
        try values.read(arguments: arguments)
        let options = ServeOptions(values)
        isCheck = options?.isCheck == true
        logLevel = options.flatMap { Logger.Level(rawValue: $0.logLevel) } ?? .info
        logsJSON = options?.logFormat == "json" || (options?.logFormat == "auto" && isatty(STDERR_FILENO) != 1)
        var mistakes = values.mistakes
        if values.apps.isEmpty {
            apps = nil
            configuration = Self.configuration(values, mistakes: &mistakes)
            warnings += Self.warnings(values, configuration)
            if values.isSet(.appsDefault) {
                warnings.append("`\(Setting.appsDefault.name)` has no effect without `apps`; leave it out")
            }
            mistakes += configuration?.findings.map(\.description) ?? []
        } else {
            for setting in [Setting.policy, .database] where commandLine.isSet(setting) {
                mistakes.append("each app has its own `\(setting.name)`; leave out `\(setting.flag)`")
            }
            apps = Self.apps(values, isReload: isReload, mistakes: &mistakes, warnings: &warnings)
            configuration = apps?.common
            // A mistake in one app doesn't prevent the others from starting, so only `--check` counts it here.
            if isCheck { mistakes += apps?.findings.map(\.description) ?? [] }
            // If the apps have no mistakes, look for conflicts between them.
            if mistakes.isEmpty, let mistake = apps?.mistake { mistakes.append(mistake.description) }
        }
        // A mistake in a common setting is found for each app, so keep only the first of equal mistakes.
        var keptMistakes: Set<String> = []
        self.mistakes = mistakes.filter { keptMistakes.insert($0).inserted }
        self.warnings = warnings
    }

    /// Returns the configuration. Throws a `CommandError` with all mistakes, if there are any.
    func validConfiguration() throws -> ServiceConfiguration {
        guard mistakes.isEmpty, let configuration else { throw CommandError(mistakes.joined(separator: "\n")) }
        return configuration
    }

    /// Returns the configuration of a service with several apps, and adds the mistakes and warnings in their settings.
    /// Nil if no app could be read.
    private static func apps(
        _ values: SettingValues, isReload: Bool, mistakes: inout [String], warnings: inout [String]
    ) -> AppsConfiguration? {
        var apps: [AppConfiguration] = []
        for app in values.apps {
            let appValues = values.overlaid(by: app.values)
            let appConfiguration = configuration(appValues, mistakes: &mistakes)
            warnings += Self.warnings(appValues, appConfiguration).map { "the app `\(app.name)`: \($0)" }
            if let appConfiguration { apps.append(AppConfiguration(name: app.name, configuration: appConfiguration)) }
        }
        // `--new-database` is for the apps without a database, so turn the setting off for the other apps. If every app
        // has a database, the setting stays on, and the start fails. A database on a server counts as missing, because
        // this function doesn't connect to it. On a reload, the setting is off for all apps.
        let areDatabasesMissing = apps.map { $0.configuration.databaseFile == nil || !$0.configuration.hasDatabase }
        for (index, isMissing) in areDatabasesMissing.enumerated()
        where isReload || (!isMissing && areDatabasesMissing.contains(true)) {
            apps[index].configuration.createsDatabase = false
        }
        // A configuration needs a policy, a database and keys. The common configuration has those of the first app.
        guard let first = values.apps.first,
            let common = configuration(
                values.overlaid(by: first.values, only: [.policy, .database, .keys]), mistakes: &mistakes),
            var result = try? AppsConfiguration(apps, common: common)
        else { return nil }
        result.defaultApp = ServeOptions(values)?.defaultApp
        for setting in Setting.fixed { result.fixedSettings[setting.name] = values.list(setting) }
        return result
    }

    /// Returns warnings about settings with which the service starts anyway:
    /// - hosts of the App Store Server API without a key, which have no effect
    /// - settings of asset packs without their folder, which have no effect
    /// - a folder of asset packs with an unusable catalog
    private static func warnings(_ values: SettingValues, _ configuration: ServiceConfiguration?) -> [String] {
        let hasKey = ServeOptions(values)?.hasAppStoreKey == true
        let hosts = hasKey ? [] : [Setting.productionHost, .sandboxHost].filter { values.isSet($0) }
        let hostWarnings = hosts.map {
            "`\($0.name)` has no effect without a key; set a key with `\(Setting.keyID.name)`, or leave out `\($0.name)`"
        }
        guard values.isSet(.contentFolder) else {
            let settings = ([.linkLifetime] + Setting.s3).filter { values.isSet($0) }
            return hostWarnings
                + settings.map {
                    "`\($0.name)` has no effect without asset packs; set their folder with `\(Setting.contentFolder.name)`"
                }
        }
        let problem = configuration?.content?.catalogProblem(of: configuration?.policy.app.bundleID ?? "")
        return hostWarnings + [problem].compactMap { $0.map { "\($0)" } }
    }

    /// Returns the configuration of one app, and adds the mistakes in its settings. Nil only if the built-in defaults
    /// are invalid.
    private static func configuration(_ values: SettingValues, mistakes: inout [String]) -> ServiceConfiguration? {
        guard let options = ServeOptions(values) else { return nil }
        var configuration = options.configuration
        // Also check the other settings if there is no policy, so that one run reports all mistakes.
        if let path = options.policy {
            do throws(ServiceError) {
                configuration.policy = try ServiceConfiguration.readPolicy(at: path)
            } catch {
                mistakes.append(error.description)
            }
        } else {
            mistakes.append("there is no policy; set it with `--policy`, or with `policy` in the configuration")
        }
        let app = configuration.policy.app
        configuration.app = AppIdentity(bundleID: app.bundleID, appAppleID: app.appleID)
        configuration.webhooks = values.webhooks
        configuration.appStore = options.appStoreSettings
        if values.isSet(.contentFolder) {
            configuration.content = options.content
            if Setting.s3.contains(where: { values.isSet($0) }) { configuration.content?.s3 = options.s3 }
        }
        do {
            configuration.anchors = try TrustOptions(options).configuration().anchors
        } catch {
            mistakes += describe(error).split(separator: "\n").map(String.init)
        }
        if let path = options.clock {
            do throws(ServiceError) {
                configuration.clock = try FileClock(path: path)
            } catch {
                mistakes.append(error.description)
            }
        }
        if let path = options.adminKeyFile {
            do {
                configuration.adminKey = String(
                    decoding: try SecretFile(path: path).existingContents(), as: UTF8.self
                ).trimmingCharacters(in: .whitespacesAndNewlines)
            } catch {
                mistakes.append(describe(error))
                // Set a random key, so that the configuration doesn't report the missing key a second time.
                configuration.adminKey = KeySecret().text
            }
        }
        for text in options.proxies {
            if let block = AddressBlock(text) {
                configuration.proxies.append(block)
            } else {
                mistakes.append(
                    "`\(text)` in `behindProxy` isn't an address or a network; write one such as 127.0.0.1 or 10.0.0.0/8"
                )
            }
        }
        switch (options.certificate, options.tlsKey) {
        case (let certificate?, let key?):
            configuration.certificateFiles = CertificateFiles(certificate: certificate, key: key)
        case (_?, nil): mistakes.append("`tls.certificate` needs its key; set it with `tls.key`")
        case (nil, _?): mistakes.append("`tls.key` needs its certificate; set it with `tls.certificate`")
        case (nil, nil): break
        }
        return configuration
    }
}

extension ServeOptions {
    /// Whether a setting of the key for the App Store Server API is present.
    fileprivate var hasAppStoreKey: Bool {
        ![appStore.issuerID, appStore.keyID, appStore.privateKeyFile].allSatisfy(\.isEmpty)
    }

    /// The key for the App Store Server API with the hosts; nil if there is no such key.
    fileprivate var appStoreSettings: AppStoreSettings? {
        guard hasAppStoreKey else { return nil }
        var settings = appStore
        if let productionHost { settings.hosts.production = productionHost }
        if let sandboxHost { settings.hosts.sandbox = sandboxHost }
        return settings
    }
}

extension TrustOptions {
    /// Takes the trusted certificates and the accepted environments from a service's settings. Throws if they have a
    /// mistake.
    init(_ options: ServeOptions) throws {
        self.init()
        trust = options.trust
        environment = options.environments.compactMap { EnvironmentName(argument: $0) }
        try validate()
    }
}
