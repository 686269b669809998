import Foundation
import TenureStore

extension PostgresConnection {
    /// Creates the schema if it's missing and migrates it, in one transaction.
    ///
    /// If several processes start at the same time, one migrates, and the others wait for it.
    func migrate(_ migrations: [Migration] = Migration.all) throws(PostgresFailure) {
        let timeout = answerTimeout
        // Migrating a long table may take hours.
        answerTimeout = .seconds(24 * 3600)
        defer { answerTimeout = timeout }
        let lock = AdvisoryKeys.number("migrations", address.schema, "")
        try transact(.migrating(lock: lock)) { () throws(PostgresFailure) in
            try makeSchema()
            try apply(migrations)
        }
    }

    private func makeSchema() throws(PostgresFailure) {
        // `IF NOT EXISTS` alone needs the privilege to create schemas even if the schema exists.
        let isThere = try rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", [.text(address.schema)])
        if isThere.isEmpty { try run("CREATE SCHEMA IF NOT EXISTS \"\(address.schema)\"") }
        let table = try rows(
            "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'migrations'", [.text(address.schema)])
        if table.isEmpty {
            try run("CREATE TABLE migrations (name TEXT COLLATE \"C\" PRIMARY KEY, applied_at BIGINT NOT NULL)")
        }
    }

    private func apply(_ migrations: [Migration]) throws(PostgresFailure) {
        let applied = Set(try rows("SELECT name FROM migrations").flatMap(\.values))
        let known = Set(migrations.map { SQLValue.text($0.name) })
        guard applied.isSubset(of: known) else {
            throw PostgresFailure(.newerDatabase(path: "\(address.description)?schema=\(address.schema)"))
        }
        for migration in migrations where !applied.contains(.text(migration.name)) {
            try migration.run(for: .postgres) { statements throws(PostgresFailure) in try run(statements) }
            _ = try execute(
                "INSERT INTO migrations (name, applied_at) VALUES ($1, $2)",
                [.text(migration.name), .integer(Date.now.millisecondsSince1970)])
        }
    }

    /// Returns the database's ID.
    func databaseID() throws(PostgresFailure) -> [UInt8] {
        let row = try transact(.reading) { () throws(PostgresFailure) in try rows("SELECT id FROM database").first }
        guard case .blob(let id)? = row?.values.first, id.count == 16 else {
            throw PostgresFailure(.damaged("`\(address.description)` has no ID"))
        }
        return id
    }
}
