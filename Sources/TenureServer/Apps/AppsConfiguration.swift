import TenureCore

/// The configuration of a service with several apps.
package struct AppsConfiguration: Sendable {
    package var apps: [AppConfiguration]
    /// The value of the setting `apps.default`: the name of the app that also answers the routes without `/apps/NAME`;
    /// nil if it isn't set.
    package var defaultApp: String?
    /// The settings that all apps share: address, TLS, proxies, connections, and the operator's admin key.
    package var common: ServiceConfiguration
    /// The values of the settings that a running service can't change, by name.
    package var fixedSettings: [String: [String]] = [:]

    /// Creates the configuration of several apps. If `common` is nil, the first app's configuration is used, with its
    /// admin key.
    package init(_ apps: [AppConfiguration], common: ServiceConfiguration? = nil) throws(ServiceError) {
        guard let first = apps.first else { throw .apps("no app is configured; add an app below `apps`") }
        self.apps = apps
        self.common = common ?? first.configuration
    }

    /// The app with this name; nil if the configuration doesn't have it.
    subscript(name: String) -> AppConfiguration? { apps.first { $0.name == name } }

    /// The name of the app that also answers the routes without `/apps/NAME`: the configured app, or the only app. Nil
    /// if there are several apps and none is configured.
    var unprefixedApp: String? { defaultApp ?? (apps.count == 1 ? apps.first?.name : nil) }

    /// The first mistake in the apps and in the name of the default app; nil if there is no mistake.
    package var mistake: ServiceError? {
        if let mistake = AppConfiguration.mistake(in: apps) { return mistake }
        guard let defaultApp, self[defaultApp] == nil else { return nil }
        return .apps(
            "`default` names the unknown app `\(defaultApp)`; use one of \(apps.map(\.name).joined(separator: ", "))")
    }

    /// The mistakes in the files of each app. Finding them creates and changes nothing.
    package var findings: [ServiceError] {
        apps.flatMap { app in app.configuration.findingsOfApp.map { .app(name: app.name, $0.description) } }
    }

    /// Returns the reasons why a running service with this configuration can't use the new configuration `fresh`
    /// without a restart.
    ///
    /// - Parameter running: The names of the apps that run. The database of an app that doesn't run may change.
    func mistakes(in fresh: AppsConfiguration, running: Set<String>) -> [ServiceError] {
        let names = Set(fixedSettings.keys).union(fresh.fixedSettings.keys).sorted()
        var mistakes = names.filter { fixedSettings[$0] != fresh.fixedSettings[$0] }
            .map { ServiceError.apps(Self.needsRestart($0)) }
        for app in fresh.apps where running.contains(app.name) {
            guard let old = self[app.name]?.configuration else { continue }
            if old.databasePath != app.configuration.databasePath {
                mistakes.append(.app(name: app.name, Self.needsRestart("database")))
            }
            let (bundleID, newBundleID) = (old.policy.app.bundleID, app.configuration.policy.app.bundleID)
            guard bundleID != newBundleID else { continue }
            let detail = """
                the policy is for `\(newBundleID)`, but the database belongs to `\(bundleID)`; set `policy` to a policy \
                for the database's app
                """
            mistakes.append(.app(name: app.name, detail))
        }
        return mistakes
    }

    private static func needsRestart(_ setting: String) -> String {
        "the setting `\(setting)` changed, which needs a restart; restart the service, or undo that change"
    }
}

/// The result of reading the configuration of several apps again: the new configuration, or the mistakes in it. The
/// configuration is nil if the mistakes prevent its use.
package typealias AppsReading = (configuration: AppsConfiguration?, mistakes: [String], warnings: [String])

/// Reads the configuration of several apps again.
package typealias AppsReader = @Sendable () async -> AppsReading
