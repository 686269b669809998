import Foundation
import TenureStore

/// Creates and migrates the schema in a PostgreSQL database.
extension PostgresConnection {
    /// Opens the database: creates it, stores the app that it belongs to, or brings its schema up to date, as far as
    /// `opening` permits. Returns the database's ID.
    ///
    /// A database that needs no change is only read, so that a start doesn't block writers.
    func open(_ opening: DatabaseOpening) throws(PostgresFailure) -> [UInt8] {
        let requirements = opening.requirements(for: address.fullName)
        var header = try transact(.reading) { () throws(PostgresFailure) in try headerIfAny() }
        if let header { try check(header, for: opening) }
        // The database lacks the app or a migration, or there is no database yet.
        let needsChange =
            header.map { ($0.bundleID == nil && opening.bundleID != nil) || $0.version < requirements.version } ?? true
        let mayChange = header == nil ? opening.creates : opening.migrates
        if needsChange, mayChange {
            try migrate(opening.migrations, for: opening.bundleID, mustBeNew: opening.mustBeNew)
            header = try transact(.reading) { () throws(PostgresFailure) in try headerIfAny() }
        }
        guard let header else {
            throw .unusable(
                address.description,
                "its schema `\(address.schema)` \(DatabaseOpening.noDatabase); check `schema` in the URL")
        }
        guard header.id.count == 16 else { throw PostgresFailure(.damaged("`\(address.description)` has no valid ID")) }
        if let objection = requirements.objection(to: header, for: opening.use) { throw PostgresFailure(objection) }
        return header.id
    }

    /// Creates the schema if it's missing, migrates it, and stores the app that the database belongs to, in one
    /// transaction.
    ///
    /// If several processes start at the same time, one of them migrates, and the others wait. No other process writes
    /// during the migration.
    func migrate(
        _ migrations: [Migration] = Migration.all, for bundleID: String? = nil, mustBeNew: Bool = false
    ) throws(PostgresFailure) {
        let opening = DatabaseOpening(bundleID: bundleID, mustBeNew: mustBeNew, migrations: migrations)
        try transact(.alone) { () throws(PostgresFailure) in
            // Another process may have created or migrated the database in the meantime.
            if let header = try headerIfAny() { try check(header, for: opening) }
            // `IF NOT EXISTS` alone needs the privilege to create schemas even if the schema exists.
            let schema = try rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", [.text(address.schema)])
            if schema.isEmpty { try run("CREATE SCHEMA IF NOT EXISTS \"\(address.schema)\"") }
            let table = try rows(
                "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'migrations'", [.text(address.schema)])
            if table.isEmpty {
                try run("CREATE TABLE migrations (name TEXT COLLATE \"C\" PRIMARY KEY, applied_at BIGINT NOT NULL)")
            }
            let applied = Set(try rows("SELECT name FROM migrations").flatMap(\.values))
            for migration in migrations where !applied.contains(.text(migration.name)) {
                try migration.run(for: .postgres) { statements throws(PostgresFailure) in try run(statements) }
                _ = try execute(
                    "INSERT INTO migrations (name, applied_at) VALUES ($1, $2)",
                    [.text(migration.name), .integer(Date.now.millisecondsSince1970)])
            }
            if let bundleID { _ = try execute(DatabaseHeader.claimStatement, [.text(bundleID)]) }
        }
    }

    /// Throws if the database with this header can't be opened, even after a migration.
    private func check(_ header: DatabaseHeader, for opening: DatabaseOpening) throws(PostgresFailure) {
        let requirements = opening.requirements(for: address.fullName)
        if let objection = requirements.objectionBeforeMigration(to: header, for: opening.use) {
            throw PostgresFailure(objection)
        }
        guard opening.mustBeNew else { return }
        throw .unusable(address.fullName, "it exists already; start without `--new-database`")
    }

    /// Returns the header of the database in the schema; nil if the schema has no database. Call it only inside a
    /// transaction.
    private func headerIfAny() throws(PostgresFailure) -> DatabaseHeader? {
        let exists = try rows("SELECT to_regclass($1) IS NOT NULL", [.text("\"\(address.schema)\".database_state")])
        guard exists.first?.values == [.integer(1)] else { return nil }
        let steps = try rows("SELECT name FROM \"\(address.schema)\".migrations")
        let header = try inSession { session throws(StoreError) in try DatabaseHeader.read(in: session) }
        // More steps ran than the header's version says, so a newer release added one.
        guard steps.count <= header.version else { throw PostgresFailure(.newerDatabase(path: address.fullName)) }
        return header
    }
}
