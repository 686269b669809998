import ArgumentParser
import Foundation
import TenureAppStore
import TenureCore
import TenurePostgres
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
    /// The bundle ID that the database must have. Nil if no policy is configured. In that case, any app's database is
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
        let anchors = allValues.flatMap { values in
            var options = TrustOptions()
            options.trust = values.list(.trust) ?? []
            return options.paths.flatMap(FilePlan.files)
        }
        files = [config].compactMap(\.self) + Self.files(allValues, beside: self.database) + anchors
    }

    /// Returns the files of all apps that a command must not overwrite, without the selected database.
    private static func files(_ allValues: [SettingValues], beside database: DatabaseArgument) -> [String] {
        let policies = allValues.compactMap { $0.text(.policy) }.flatMap { PolicyOnDisk(path: $0).files }
        let primary = allValues.compactMap { $0.text(.keys) }.map { "\($0)/\(PrimaryFile.name)" }
        // The default database isn't in use unless it is selected.
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

/// The database that a command uses: the path of an SQLite file, or the URL of a PostgreSQL database.
struct DatabaseArgument: ExpressibleByArgument, Sendable, Hashable {
    /// The path or URL. It is secret, because a URL may contain a password.
    private let argument: Secret<String>
    var text: String { argument.revealed }

    init(argument: String) { self.argument = Secret(argument) }

    var defaultValueDescription: String { name }

    var isPostgres: Bool { PostgresAddress.isPostgres(text) }

    /// The file of an SQLite database, and the files that SQLite puts in the same folder.
    var files: [String] { isPostgres ? [] : ["", "-wal", "-shm", "-journal"].map { text + $0 } }

    /// Whether the text is a URL of another kind of database than PostgreSQL.
    private var isUnknownURL: Bool { !isPostgres && text.contains("://") }

    /// Returns the database. Throws if the text is a URL of an unknown kind, or a list of options such as `host=…
    /// dbname=…`. The error doesn't repeat the text, which may contain a password.
    func checked() throws -> DatabaseArgument {
        guard !ConnectionString.matches(text) else { throw CommandError(ConnectionString.objection) }
        guard isUnknownURL else { return self }
        throw CommandError(
            "the database is a URL of an unknown kind; write `postgres://…`, or the path of an SQLite file")
    }

    /// The name to show, without the password that a URL may contain.
    var name: String {
        guard isPostgres else { return isUnknownURL || ConnectionString.matches(text) ? "the database" : text }
        return (try? PostgresAddress(text))?.description ?? "the PostgreSQL database"
    }

    /// Whether both arguments name the same database. Two SQLite paths may be spelled differently. Two PostgreSQL URLs
    /// count as the same only if their texts are equal.
    func isSame(as other: DatabaseArgument) -> Bool {
        self == other || (!isPostgres && !other.isPostgres && SQLiteDatabase.areSame(text, other.text))
    }

    /// The name for messages that are read on another machine: the host, database and schema, or the absolute path.
    var fullName: String {
        guard isPostgres else { return URL(fileURLWithPath: text).standardizedFileURL.path }
        return (try? PostgresAddress(text))?.fullName ?? name
    }

    /// Opens the database.
    ///
    /// - Parameters:
    ///   - opening: whether the database must exist, and of which app it must be.
    ///   - primary: the file that records which PostgreSQL server was the primary (the server that accepts writes). Nil
    ///     without such a file.
    func open(_ opening: DatabaseOpening, primary: PrimaryFile? = nil) async throws -> Store {
        _ = try checked()
        if isPostgres {
            return Store(try await PostgresDatabase(PostgresAddress(text), opening, storage: primary?.storage))
        }
        guard opening.creates || FileManager.default.fileExists(atPath: text) else {
            throw CommandError("there is no database at `\(text)`; name your service's database with --database")
        }
        return Store(try SQLiteDatabase(path: text, opening))
    }
}
