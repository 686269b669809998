/// What a process requires of the database that it uses. Each transaction checks these requirements, because a
/// connection pooler can be pointed at another server, and another process can migrate or move the database.
package struct DatabaseRequirements: Sendable, Hashable {
    /// The name of the database in messages, without a password.
    let name: String
    /// The ID that the database must have. Nil accepts every ID, such as while a database is being opened.
    package let id: [UInt8]?
    /// The bundle ID of the app that the database must belong to; nil accepts every app's database.
    package let bundleID: String?
    /// The version of the schema that this release knows.
    package let version: Int

    /// The purpose for which a transaction uses the database.
    package enum Use: Sendable, Hashable {
        case reading
        /// Writing as a service does. A database that was moved is refused.
        case writing
        /// Writing as a command does that migrates, moves or reopens the database. A moved database is accepted.
        case maintaining
    }

    /// Returns why the database can't be used this way; nil if it can be.
    package func objection(to header: DatabaseHeader, for use: Use) -> StoreError? {
        if let objection = objectionBeforeMigration(to: header, for: use) { return objection }
        return header.version < version ? .olderDatabase(database: name) : nil
    }

    /// Returns why the database can't be used this way after a migration; nil if it can be. Unlike `objection`, it
    /// accepts an earlier version of the schema.
    package func objectionBeforeMigration(to header: DatabaseHeader, for use: Use) -> StoreError? {
        if let bundleID, let other = header.bundleID, other != bundleID {
            return .otherApp(database: name, found: other, expected: bundleID)
        }
        if let id, id != header.id { return .otherDatabase(database: name) }
        let oldest = use == .reading ? header.oldestReader : header.oldestWriter
        guard oldest <= version else { return .newerDatabase(path: name) }
        if use == .writing, let target = header.movedTo { return .moved(database: name, to: target) }
        return nil
    }

    /// Throws if the session's database can't be used this way. Runs one short statement.
    func check(_ session: any DatabaseSession, for use: Use) throws(StoreError) {
        if let objection = objection(to: try DatabaseHeader.read(in: session), for: use) { throw objection }
    }
}

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

    /// A service needs a database that it may write to. A command may use a database that it can only read.
    package var use: DatabaseRequirements.Use { migrates ? .writing : .reading }

    /// Returns what the process requires of the database.
    ///
    /// - Parameters:
    ///   - name: the name of the database in messages, without a password.
    ///   - id: the ID of the database that was opened; nil before that. If `bundleID` names an app, every transaction
    ///     requires this ID. The exception is `new(of:)`: its caller copies another database into the new database,
    ///     which gets the ID of the other database.
    package func requirements(for name: String, opened id: [UInt8]? = nil) -> DatabaseRequirements {
        DatabaseRequirements(
            name: name, id: bundleID != nil && (migrates || !creates) ? id : nil, bundleID: bundleID,
            version: migrations.last?.version ?? 0)
    }
}
