import GRDB

/// The shape of the SQLite database, step by step. A step that was released never changes; a new one follows it.
enum Migrations {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 ledger") { try createLedger($0) }
        return migrator
    }
}
