import Foundation
package import TenureStore

/// One of several apps in one service. Each app has its own policy, keys and database. Its paths begin with
/// `/apps/NAME/`.
public struct AppConfiguration: Sendable {
    /// The app's name in paths and logs: lowercase letters, digits, hyphens and underscores.
    public var name: String
    /// The app's settings. `serve(apps:)` takes the settings that all apps share, such as the port, from the first app.
    /// In the other apps, they have no effect.
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
