import GRDB

extension Migration {
    /// How SQLite runs them: what is done stands in GRDB's own table.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for migration in all {
            migrator.registerMigration(migration.name) { db in
                for statements in migration.statements(for: .sqlite) { try db.execute(sql: statements) }
            }
        }
        return migrator
    }
}
