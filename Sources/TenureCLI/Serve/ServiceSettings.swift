import ArgumentParser
import Foundation
import Logging
import TenureAppStore
import TenureCore
import TenureServer
import TenureStore

/// The settings of `tenure serve` from file, environment and command line, with all mistakes in them.
struct ServiceSettings {
    /// The configuration. Nil if required settings are missing. If there are several apps, it is the first app's, which
    /// also has the address of the service.
    let configuration: ServiceConfiguration?
    /// The apps of a service with several apps. Nil for a service with a single app.
    let apps: AppsConfiguration?
    let logLevel: Logger.Level
    let logsJSON: Bool
    let isCheck: Bool
    /// The mistakes, one line each.
    private(set) var mistakes: [String]
    /// Settings without effect, such as variables with unknown names. `--check` fails on them, and a starting service
    /// prints them.
    let warnings: [String]

    /// Reads the settings.
    ///
    /// - Parameter isReload: whether the settings are for a running service. If so, `--new-database`, which was for its
    ///   start, is ignored.
    /// - Throws: `ValidationError` for wrong usage of the command line.
    init(arguments: [String], environment: [String: String], isReload: Bool = false) throws {
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
            apps = nil
            configuration = Self.configuration(values, mistakes: &mistakes)
            warnings += Self.idleHosts(values) + Self.contentWarnings(values, configuration)
            if values.isSet(.appsDefault) {
                warnings.append("`\(Setting.appsDefault.name)` has no effect without `apps`; leave it out")
            }
            mistakes += configuration?.findings.map(\.description) ?? []
        } else {
            for setting in [Setting.policy, .database] where given.isSet(setting) {
                mistakes.append("each app has its own `\(setting.name)`; leave out `\(setting.flag)`")
            }
            apps = Self.apps(values, isReload: isReload, mistakes: &mistakes, warnings: &warnings)
            configuration = apps?.common
            // A mistake in one app doesn't prevent the others from starting.
            if isCheck { mistakes += apps?.findings.map(\.description) ?? [] }
            // The list already has the mistakes of each app. Add the conflicts between apps.
            if mistakes.isEmpty, let mistake = apps?.mistake { mistakes.append(mistake.description) }
        }
        // A mistake in a common setting is found for each app, so remove duplicates.
        var known: Set<String> = []
        mistakes = mistakes.filter { known.insert($0).inserted }
        self.mistakes = mistakes
        self.warnings = warnings
    }

    private static func apps(
        _ values: SettingValues, isReload: Bool, mistakes: inout [String], warnings: inout [String]
    ) -> AppsConfiguration? {
        var apps: [AppConfiguration] = []
        for app in values.apps {
            let own = values.overlaid(by: app.values)
            let known = configuration(own, mistakes: &mistakes)
            warnings += (idleHosts(own) + contentWarnings(own, known)).map { "the app `\(app.name)`: \($0)" }
            if let known { apps.append(AppConfiguration(name: app.name, configuration: known)) }
        }
        // With `--new-database`, at least one app must have no database yet. Database servers aren't checked here.
        let areMissing = apps.map { $0.configuration.databaseFile == nil || !$0.configuration.hasDatabase }
        for (index, isMissing) in areMissing.enumerated() where isReload || !isMissing && areMissing.contains(true) {
            apps[index].configuration.createsDatabase = false
        }
        guard let first = values.apps.first,
            let common = configuration(
                values.overlaid(by: first.values, only: [.policy, .database, .keys]), mistakes: &mistakes),
            var result = try? AppsConfiguration(apps, common: common)
        else { return nil }
        result.defaultApp = values.text(.appsDefault)
        for setting in Setting.fixed { result.fixed[setting.name] = values.list(setting) }
        return result
    }

    /// Warnings about hosts of the App Store Server API, which have no effect without a key.
    private static func idleHosts(_ values: SettingValues) -> [String] {
        guard !hasKey(values) else { return [] }
        return [Setting.productionHost, .sandboxHost].filter { values.isSet($0) }.map {
            "`\($0.name)` has no effect without a key; set one with `\(Setting.keyID.name)`, or leave it out"
        }
    }

    /// Warnings about problems that prevent the delivery of content, but not the start of the service.
    private static func contentWarnings(_ values: SettingValues, _ configuration: ServiceConfiguration?) -> [String] {
        guard values.isSet(.contentFolder) else {
            return ([.linkLifetime] + Setting.s3).filter { values.isSet($0) }.map {
                "`\($0.name)` has no effect without content; set its folder with `\(Setting.contentFolder.name)`"
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
            mistakes.append("there is no policy; set it with `--policy`, or with `policy` in the configuration")
        }
        // Also check the other settings if there is no policy, so that one run reports all mistakes.
        guard let known = policy ?? ServiceConfiguration.withoutPolicy?.policy else { return nil }
        var configuration = ServiceConfiguration(databasePath: values.text(.database) ?? "", policy: known)
        configuration.set(from: values)
        configuration.setServers(from: values)
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
                // A placeholder, so that the missing key isn't reported too.
                configuration.adminKey = KeySecret().text
            }
        }
        for text in values.list(.behindProxy) ?? [] {
            guard let block = AddressBlock(text) else {
                mistakes.append(
                    "`\(text)` in `behindProxy` isn't an address or a network; write one such as 127.0.0.1 or 10.0.0.0/8"
                )
                continue
            }
            configuration.proxies.append(block)
        }
        switch (values.text(.certificate), values.text(.tlsKey)) {
        case (let certificate?, let key?):
            configuration.certificateFiles = CertificateFiles(certificate: certificate, key: key)
        case (_?, nil): mistakes.append("`tls.certificate` needs its key; set it with `tls.key`")
        case (nil, _?): mistakes.append("`tls.key` needs its certificate; set it with `tls.certificate`")
        case (nil, nil): break
        }
        return configuration
    }
}

extension ServiceConfiguration {
    /// Sets properties that depend on several settings.
    fileprivate mutating func setServers(from values: SettingValues) {
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
            if Setting.s3.contains(where: { values.isSet($0) }) { content?.s3 = S3Settings(values) }
        }
    }
}

extension S3Settings {
    /// A missing setting becomes an empty text, which the checks of the configuration report.
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

extension TrustOptions {
    /// Throws the mistake in these settings.
    init(_ values: SettingValues) throws {
        self.init()
        trust = values.list(.trust) ?? []
        environment = (values.list(.environments) ?? []).compactMap { EnvironmentName(argument: $0) }
        try validate()
    }
}
