import Foundation

extension SQLiteConnection {
    /// The table that stores which steps of the schema ran.
    static let migrations = "migrations"

    /// Creates the schema or brings it up to date: all of it, or nothing. Of several processes that start at once, one
    /// does it.
    func migrate() throws(StoreError) {
        guard try !pendingMigrations().isEmpty else { return }
        try transaction { () throws(StoreError) in
            try execute(
                """
                CREATE TABLE IF NOT EXISTS \(Self.migrations) (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL)
                STRICT
                """)
            for migration in try pendingMigrations() {
                try migration.run(for: .sqlite) { statements throws(StoreError) in try runAll(statements) }
                try execute(
                    "INSERT INTO \(Self.migrations) (name, applied_at) VALUES ($1, $2)",
                    [.text(migration.name), .integer(Date.now.millisecondsSince1970)])
            }
        }
    }

    /// Returns the steps that didn't run yet. Throws `newerDatabase` if one ran that this release doesn't know.
    func pendingMigrations() throws(StoreError) -> [Migration] {
        let applied = try tables().contains(Self.migrations) ? texts("SELECT name FROM \(Self.migrations)") : []
        guard applied.isSubset(of: Migration.all.map(\.name)) else { throw .newerDatabase(path: path) }
        return Migration.all.filter { !applied.contains($0.name) }
    }

    func tables() throws(StoreError) -> Set<String> {
        try texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    }

    private func texts(_ sql: String) throws(StoreError) -> Set<String> {
        Set(try rows(sql).map { row throws(StoreError) in try row.text(0) })
    }
}
