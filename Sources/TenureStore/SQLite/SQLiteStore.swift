package import Foundation
import GRDB
package import TenureCore

/// The record in one SQLite file: the default, for one machine.
///
/// Writes go through GRDB, one transaction after the other, and are flushed before they return. Looking up a customer
/// goes past GRDB to connections of its own.
package struct SQLiteStore: Store {
    package let recordID: [UInt8]
    private let pool: DatabasePool
    private let readers: CustomerReaders

    /// Opens the database, makes it where there is none, and brings it up to date.
    package init(path: String) throws(StoreError) {
        do {
            try Self.createFile(at: path)
            try Self.closeToOthers(path)
            pool = try DatabasePool(path: path, configuration: Self.configuration)
            try Self.makeDurable(pool)
            if try pool.read({ try Migrations.migrator.hasBeenSuperseded($0) }) {
                throw StoreError.newerDatabase(path: path)
            }
            try Migrations.migrator.migrate(pool)
            guard let id = try pool.read({ try Data.fetchOne($0, sql: "SELECT id FROM record") }), id.count == 16 else {
                throw StoreError.damaged("`\(path)` does not say which record it is")
            }
            recordID = [UInt8](id)
            readers = CustomerReaders(path: path)
        } catch {
            throw StoreError(error, path: path)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "record"
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 2
        return configuration
    }

    /// People's purchases are nobody else's: SQLite gives its other files the mode of this one.
    private static func createFile(at path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError.unavailable(path: path, detail: String(cString: strerror(errno)).lowercased())
        }
        _ = Foundation.close(descriptor)
    }

    /// One that somebody copied or made by hand may be open to others, and what it holds in its log too.
    private static func closeToOthers(_ path: String) throws(StoreError) {
        for path in [path, path + "-wal", path + "-shm"] {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            guard chmod(path, 0o600) == 0 else {
                throw .unavailable(
                    path: path, detail: "others can read it, and it is not ours to close: `chmod 600` it")
            }
        }
    }

    /// Acknowledged means flushed. GRDB's pool sets `synchronous` to NORMAL after preparing a connection, whatever the
    /// preparation said, so it is set on the open writer, and read back.
    private static func makeDurable(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            let level = try Int.fetchOne(db, sql: "PRAGMA synchronous")
            let journal = try String.fetchOne(db, sql: "PRAGMA journal_mode")
            guard level == 2, journal == "wal" else {
                throw StoreError.failed("it does not flush what it writes (journal `\(journal ?? "")`)")
            }
        }
    }

    /// What `PRAGMA synchronous` says on the connection that writes; 2 is FULL.
    var synchronousLevel: Int? {
        get throws { try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") } }
    }

    // MARK: Reading

    package func customer(_ id: Int64) async throws(StoreError) -> Customer? {
        try readers.customer(id)
    }

    package func artifacts(of customer: Int64) async throws(StoreError) -> [Artifact] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT kind, sha256, CAST(ifnull(headers.bytes, x'') || artifacts.bytes AS BLOB) AS bytes, signed_at
                    FROM artifacts LEFT JOIN headers ON headers.id = header WHERE customer = ? ORDER BY artifacts.id
                    """, arguments: [customer]
            ).map { try Artifact($0) }
        }
    }

    package func promises(of customer: Int64) async throws(StoreError) -> [RecordedPromise] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM promises WHERE customer = ? ORDER BY id", arguments: [customer])
                .map { try RecordedPromise($0) }
        }
    }

    package func check() async throws(StoreError) {
        try await read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM record") }
    }

    // MARK: Writing

    package func amend<Outcome: Sendable>(
        _ identities: [Identity], in realm: Realm, at now: Date, adopting: @escaping @Sendable (Customer) -> Bool,
        _ change: @escaping @Sendable (Customer?) -> (Amendment, Outcome)
    ) async throws(StoreError) -> (Customer, Outcome) {
        try await write { db in
            try LedgerWriter(db: db, now: now).amend(identities, in: realm, adopting: adopting, change)
        }
    }

    /// Many acts in one transaction: all of them happen, or none.
    package func amend(
        _ acts: [(identities: [Identity], realm: Realm, change: @Sendable (Customer?) -> Amendment)], at now: Date
    ) async throws(StoreError) -> [Customer] {
        try await write { db in
            let writer = LedgerWriter(db: db, now: now)
            return try acts.map { act in
                try writer.amend(act.identities, in: act.realm, adopting: { _ in true }) { (act.change($0), ()) }.0
            }
        }
    }

    package func record(_ act: SupportAct, for customer: Int64) async throws(StoreError) -> Customer? {
        try await write { db in try LedgerWriter(db: db, now: act.date).record(act, for: customer) }
    }

    package func record(
        policy compiled: [UInt8], sha256: [UInt8], at now: Date
    ) async throws(StoreError) -> [RecordedPolicy] {
        try await write { db in
            try LedgerWriter(db: db, now: now).record(policy: compiled, sha256: sha256)
            return try Row.fetchAll(db, sql: "SELECT * FROM policies ORDER BY version").map { try RecordedPolicy($0) }
        }
    }

    package func close() async throws(StoreError) {
        readers.close()
        do {
            try pool.close()
        } catch {
            throw StoreError(error)
        }
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await pool.read(body)
        } catch {
            throw StoreError(error)
        }
    }

    private func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await pool.write(body)
        } catch {
            throw StoreError(error)
        }
    }
}
