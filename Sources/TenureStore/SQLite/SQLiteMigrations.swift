import GRDB

extension Migration {
    static var migrator: DatabaseMigrator { migrator(of: all) }

    /// How SQLite runs them: what is done stands in GRDB's own table.
    static func migrator(of migrations: [Migration]) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for migration in migrations {
            migrator.registerMigration(migration.name) { try migration.run(on: $0) }
        }
        return migrator
    }

    func run(on db: Database) throws {
        try run(
            for: .sqlite,
            has: { table, column in
                try Bool.fetchOne(
                    db, sql: "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", arguments: [table, column]) ?? false
            },
            { statements in try db.execute(sql: statements) })
    }
}
