import Foundation

/// Creates and migrates an SQLite database. `PostgresMigrations.swift` does the same for PostgreSQL.
extension SQLiteConnection {
    /// The table that stores which steps of the schema (`Migration`) ran.
    static let migrationsTable = "migrations"

    /// Opens the database: creates it, stores the app that it belongs to, or brings its schema up to date, as far as
    /// `opening` permits. Returns the database's ID.
    func open(_ opening: DatabaseOpening, under requirements: DatabaseRequirements) throws(StoreError) -> [UInt8] {
        if let before = try headerIfAny() {
            if let objection = requirements.objectionBeforeMigration(to: before, for: opening.use) { throw objection }
            let isUpToDate = before.version >= requirements.version
            let hasApp = before.bundleID != nil || opening.bundleID == nil
            if opening.migrates, !isUpToDate || !hasApp { try migrate(opening, under: requirements) }
        } else if opening.creates {
            try migrate(opening, under: requirements)
        }
        let header = try DatabaseHeader.read(in: self)
        guard header.id.count == 16 else { throw .damaged("`\(requirements.name)` has no valid ID") }
        if let objection = requirements.objection(to: header, for: opening.use) { throw objection }
        return header.id
    }

    /// Creates the schema or brings it up to date, and stores the app that the database belongs to, in one transaction.
    /// If several processes start at once, only the first of them changes something.
    private func migrate(_ opening: DatabaseOpening, under requirements: DatabaseRequirements) throws(StoreError) {
        try transaction { () throws(StoreError) in
            // Another process may have created or migrated the database in the meantime.
            if let header = try headerIfAny(),
                let objection = requirements.objectionBeforeMigration(to: header, for: opening.use)
            {
                throw objection
            }
            try execute(
                """
                CREATE TABLE IF NOT EXISTS \(Self.migrationsTable) (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL)
                STRICT
                """)
            for migration in try pendingMigrations(of: opening.migrations) {
                try migration.run(for: .sqlite) { statements throws(StoreError) in try runAll(statements) }
                try execute(
                    "INSERT INTO \(Self.migrationsTable) (name, applied_at) VALUES ($1, $2)",
                    [.text(migration.name), SQLValue(Date.now)])
            }
            if let bundleID = opening.bundleID { try execute(DatabaseHeader.claimStatement, [.text(bundleID)]) }
        }
    }

    /// Returns the database's header; nil if the database doesn't have Tenure's tables yet.
    func headerIfAny() throws(StoreError) -> DatabaseHeader? {
        try tables().contains(DatabaseTable.state) ? try DatabaseHeader.read(in: self) : nil
    }

    /// Returns the steps that didn't run yet. If a step ran that this release doesn't know, the database's header
    /// (`DatabaseHeader`) must permit this release to read; otherwise throws `newerDatabase`.
    func pendingMigrations(of migrations: [Migration]) throws(StoreError) -> [Migration] {
        let hasTable = try tables().contains(Self.migrationsTable)
        let applied = Set(hasTable ? try texts("SELECT name FROM \(Self.migrationsTable)") : [])
        if !applied.isSubset(of: migrations.map(\.name)) {
            let version = migrations.last?.version ?? 0
            guard let header = try headerIfAny(), header.version > version, header.oldestReader <= version
            else { throw .newerDatabase(path: path) }
        }
        return migrations.filter { !applied.contains($0.name) }
    }

    /// The names of the database's tables, without those of SQLite itself.
    func tables() throws(StoreError) -> Set<String> {
        Set(try texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"))
    }
}
