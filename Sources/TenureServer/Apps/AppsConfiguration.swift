import Foundation
import TenureCore
package import TenureStore

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

/// One of several apps in one service. Each app has its own policy, keys and database. Its paths begin with
/// `/apps/NAME/`.
public struct AppConfiguration: Sendable {
    /// The app's name in paths and logs: lowercase letters, digits, hyphens and underscores.
    public var name: String
    /// The app's settings. Host, port, TLS and proxies are taken from the first app.
    public var configuration: ServiceConfiguration
    /// Opens the app's database each time that the service starts the app. If this is nil or returns nil, the SQLite
    /// file in the configuration is opened.
    package var openStore: (@Sendable (ServiceConfiguration) async throws -> Store?)?

    /// Creates the configuration of one app. `mistake(in:)` checks its name.
    public init(name: String, configuration: ServiceConfiguration) {
        self.name = name
        self.configuration = configuration
    }

    /// Returns the first mistake in apps that are to run in one process; nil if there is no mistake.
    public static func mistake(in apps: [AppConfiguration]) -> ServiceError? {
        guard !apps.isEmpty else { return .apps("no app is configured; add an app below `apps`") }
        for app in apps {
            guard (1...64).contains(app.name.utf8.count), app.name.utf8.allSatisfy(nameCharacters.contains) else {
                return .apps(
                    "the name `\(app.name)` can't be part of a path; use up to 64 lowercase letters, digits, `-` or `_`"
                )
            }
            if let error = ServiceError(app.configuration.mistakes) { return .app(name: app.name, error.description) }
        }
        if let duplicate = firstDuplicate(apps, \.name) {
            return .apps("two apps have the name `\(duplicate)`; use different names")
        }
        if let duplicate = firstDuplicate(apps, { resolvedPath($0.configuration.databasePath) }) {
            // A URL may contain a password.
            let name = duplicate.contains("://") ? "the same database URL" : "the database `\(duplicate)`"
            return .apps("two apps have \(name); use different databases")
        }
        for (index, app) in apps.enumerated() {
            guard let path = app.configuration.databaseFile else { continue }
            let previousFiles = apps[..<index].compactMap(\.configuration.databaseFile)
            guard let other = previousFiles.first(where: { SQLiteDatabase.areSame($0, path) }) else { continue }
            return .apps("`\(other)` and `\(path)` are one file (a hard link); use different databases")
        }
        if let duplicate = firstDuplicate(apps, { resolvedPath($0.configuration.folderOfKeys) }) {
            return .apps("two apps have their keys in `\(duplicate)`; set `keys` to different folders")
        }
        return nil
    }

    /// The characters that an app's name may have.
    private static let nameCharacters = Set("abcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Returns the path with all symbolic links resolved, so that two spellings of one path become equal. A URL is
    /// returned unchanged.
    private static func resolvedPath(_ path: String) -> String {
        path.contains("://") ? path : URL(fileURLWithPath: path).resolvingSymlinksInPath().standardized.path
    }

    /// Returns the first value that two apps have; nil if all values differ.
    private static func firstDuplicate(_ apps: [AppConfiguration], _ value: (AppConfiguration) -> String) -> String? {
        var values: Set<String> = []
        return apps.map(value).first { !values.insert($0).inserted }
    }
}
