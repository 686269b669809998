/// What a process may do while it opens a database.
package struct DatabaseOpening: Sendable {
    /// The bundle ID of the app that the database must belong to; nil accepts every app's database. A database without
    /// an app becomes this app's database.
    package var bundleID: String?
    /// Whether to create a missing database.
    package var creates: Bool
    /// Whether to bring a database of an earlier release up to date. Services do, and commands don't.
    package var migrates: Bool
    /// Whether to fail if the database exists already.
    package var mustBeNew: Bool
    /// The steps of the schema that this release knows.
    package var migrations: [Migration]

    package init(
        bundleID: String? = nil, creates: Bool = true, migrates: Bool = true, mustBeNew: Bool = false,
        migrations: [Migration] = Migration.all
    ) {
        self.bundleID = bundleID
        self.creates = creates
        self.migrates = migrates
        self.mustBeNew = mustBeNew
        self.migrations = migrations
    }

    /// The words of error messages about a path or a PostgreSQL schema without a Tenure database.
    package static let noDatabase = "contains no Tenure database"

    /// The opening of a command that uses an existing database as it is.
    package static func existing(of bundleID: String?) -> DatabaseOpening {
        DatabaseOpening(bundleID: bundleID, creates: false, migrates: false)
    }

    /// The opening of a command that creates a database and fills it.
    package static func new(of bundleID: String?) -> DatabaseOpening {
        DatabaseOpening(bundleID: bundleID, creates: true, migrates: false)
    }

    /// The use that is checked at the opening: writing for a service, and reading for a command. Each transaction is
    /// checked for its own use.
    package var use: DatabaseRequirements.Use { migrates ? .writing : .reading }

    /// Returns what the process requires of the database.
    ///
    /// - Parameters:
    ///   - name: the name of the database in messages, without a password.
    ///   - id: the ID of the database that was opened; nil before that. Every transaction requires this ID, with two
    ///     exceptions. If `bundleID` is nil, every ID is accepted. The ID also isn't required for `new(of:)`: the
    ///     caller copies another database into the new database, which then gets the ID of the other database.
    package func requirements(for name: String, opened id: [UInt8]? = nil) -> DatabaseRequirements {
        DatabaseRequirements(
            name: name, id: bundleID != nil && (migrates || !creates) ? id : nil, bundleID: bundleID,
            version: migrations.last?.version ?? 0)
    }
}
