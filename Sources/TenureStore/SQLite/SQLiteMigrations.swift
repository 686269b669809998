import GRDB

extension Migration {
    /// GRDB stores which steps ran in a table of its own.
    ///
    /// - Parameter bundleID: the app of the database, stored in the transaction that creates it.
    static func migrator(of migrations: [Migration] = all, for bundleID: String? = nil) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for migration in migrations {
            migrator.registerMigration(migration.name) { db in
                try migration.run(on: db)
                if let bundleID { try db.execute(sql: DatabaseHeader.claim, arguments: [bundleID]) }
            }
        }
        return migrator
    }

    func run(on db: GRDB.Database) throws {
        try run(for: .sqlite) { try db.execute(sql: $0) }
    }
}
