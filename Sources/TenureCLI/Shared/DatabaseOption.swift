import ArgumentParser
import Foundation
import TenureAppStore
import TenureCore
import TenureServer
import TenureStore

/// The options that all commands for a service's database share. Like `tenure serve`, these commands read the
/// configuration file and the environment, so that a password needn't be on the command line.
struct DatabaseOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The database: an SQLite file, or a URL such as postgres://user@host/name. The default is \
            the database of the configuration or of $TENURE_DATABASE, or else tenure.sqlite.
            """, valueName: "path or URL"))
    var database: DatabaseArgument?

    @Option(help: .value("file", "The configuration file of the service. Default: $TENURE_CONFIG."))
    var config: String?

    @Option(help: .value("name", "The app, if the configuration file has several."))
    var app: String?

    /// Returns the database that the configuration, the environment and the options select. Reads the configuration
    /// file.
    func selection(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> DatabaseSelection {
        try DatabaseSelection(
            database: database, config: config ?? environment[Setting.config.variable], app: app,
            environment: environment)
    }
}

/// A service's database, with the app and the trusted signers of its configuration.
struct DatabaseSelection {
    let database: DatabaseArgument
    /// The bundle ID that the database must have. If it is nil, because no policy is configured, any app's database is
    /// accepted.
    let bundleID: String?
    /// The service's other files, which a command must not overwrite:
    /// - the configuration file
    /// - the files in the settings of the configuration file and the environment
    /// - the policies' release lists
    /// - the trusted certificates
    /// - the keys
    ///
    /// The list doesn't contain the selected database.
    let files: [String]
    /// The service's settings in the configuration file and the environment.
    private let options: ServeOptions

    /// Selects the database of the options. Without `database`, uses the configuration file and the environment.
    init(database: DatabaseArgument?, config: String?, app: String?, environment: [String: String]) throws {
        var values = SettingValues()
        if let config {
            var file = ServiceFile(path: config)
            file.read(into: &values)
        }
        _ = values.read(environment: environment)
        let allValues = [values] + values.apps.map(\.values)
        let names = values.apps.map(\.name).joined(separator: ", ")
        if let app {
            guard let selectedApp = values.apps.first(where: { $0.name == app }) else {
                throw CommandError(
                    names.isEmpty
                        ? "`--app` is for a configuration file with several apps; leave it out"
                        : "there is no app `\(app)` in the configuration; the apps are \(names)")
            }
            values = values.overlaid(by: selectedApp.values)
        } else if !values.apps.isEmpty, database == nil {
            throw CommandError("the configuration has several apps; select one with `--app` (\(names))")
        }
        guard values.mistakes.isEmpty else { throw CommandError(values.mistakes.joined(separator: "\n")) }
        guard let options = ServeOptions(values) else {
            throw CommandError("the built-in defaults are invalid; report this defect")
        }
        self.options = options
        self.database = try (database ?? DatabaseArgument(argument: options.configuration.databasePath)).checked()
        bundleID = try options.policy.map { try ServiceConfiguration.readPolicy(at: $0).app.bundleID }
        let certificates = allValues.flatMap { values in
            var trustOptions = TrustOptions()
            trustOptions.trust = values.list(.trust) ?? []
            return trustOptions.paths.flatMap(FilePlan.files)
        }
        files = [config].compactMap(\.self) + Self.files(allValues, beside: self.database) + certificates
    }

    /// Returns the files in `files`, except the configuration file and the trusted certificates.
    private static func files(_ allValues: [SettingValues], beside database: DatabaseArgument) -> [String] {
        let policies = allValues.compactMap { $0.text(.policy) }.flatMap { PolicyOnDisk(path: $0).files }
        let primary = allValues.compactMap { $0.text(.keys) }.map { "\($0)/\(PrimaryFile.name)" }
        // Only databases that a setting names: the default, tenure.sqlite, isn't in use unless it is selected.
        let otherDatabases = allValues.filter { $0.isSet(.database) }.compactMap { $0.text(.database) }
            .map { DatabaseArgument(argument: $0) }.filter { !$0.isSame(as: database) }.flatMap(\.files)
        let folder = (database.text as NSString).deletingLastPathComponent
        let keys = database.isPostgres ? [] : SettingValues.keys(in: folder)
        return allValues.flatMap(\.files) + policies + primary + otherDatabases + keys
    }

    /// Returns the trusted signers: those in `options`, or else those in the service's configuration.
    func trust(_ options: TrustOptions) throws -> TrustConfiguration {
        let isGiven = !options.trust.isEmpty || !options.environment.isEmpty
        return try (isGiven ? options : TrustOptions(self.options)).configuration()
    }

    /// Returns the path of the SQLite database. Throws an error with this message if it is a PostgreSQL database.
    func sqlitePath(orThrow message: String) throws -> String {
        guard !database.isPostgres else { throw CommandError(message) }
        return database.text
    }

    /// Opens the database for a command, and closes it afterward, even after an error.
    func withStore<Result>(_ body: (Store) async throws -> Result) async throws -> Result {
        let primary = options.configuration.keysFolder.map { PrimaryFile(in: $0) }
        return try await withDatabase(database, .existing(of: bundleID), primary: primary, body)
    }
}
