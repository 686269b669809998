import GRDB

extension Migration {
    static var migrator: DatabaseMigrator { migrator(of: all) }

    /// GRDB stores in its own table which steps ran.
    static func migrator(of migrations: [Migration]) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for migration in migrations {
            migrator.registerMigration(migration.name) { try migration.run(on: $0) }
        }
        return migrator
    }

    func run(on db: GRDB.Database) throws {
        try run(for: .sqlite) { try db.execute(sql: $0) }
    }
}
