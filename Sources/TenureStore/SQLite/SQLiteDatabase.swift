import Foundation
import GRDB
import TenureCore

/// An SQLite database in one file: the default, for one machine.
///
/// GRDB migrates and reads it. Writes and look-ups of customers, which every request needs, don't use GRDB. Writes
/// share transactions, and are flushed before they return.
package struct SQLiteDatabase: Database {
    package let id: [UInt8]
    private let pool: DatabasePool
    private let readers: CustomerReaders
    private let scanners: CustomerScanners
    private let writer: SQLiteWriter

    /// Opens the database and migrates it. With `making`, creates it if it's missing.
    ///
    /// Throws `unusable` if the path has something else, and doesn't change it.
    package init(path: String, making: Bool = true) throws(StoreError) {
        switch try SQLiteFile.contents(at: path) {
        case .record, .unknown: break
        case .nothing, .noTables:
            guard making else {
                throw .unusable(
                    database: path,
                    detail: """
                        it has no data; a copy without the log beside it (`-wal`) may be empty, so copy databases with \
                        `tenure database backup`
                        """)
            }
        }
        if let objection = NetworkFileSystem.objection(to: path) { throw objection }
        do {
            try Self.createFile(at: path)
            let (configured, identity) = (path, FileIdentity(path: path))
            let closedNumber = SQLiteNumber.ofClosedFile(at: path)
            let path = SQLiteFile.resolved(path)
            try Self.closeToOthers(path)
            pool = try DatabasePool(path: path, configuration: Self.configuration)
            try Self.makeDurable(pool)
            if try pool.read({ try Migration.migrator.hasBeenSuperseded($0) }) {
                throw StoreError.newerDatabase(path: path)
            }
            try Migration.migrator.migrate(pool)
            guard let id = try pool.read({ try Data.fetchOne($0, sql: "SELECT id FROM database") }), id.count == 16
            else {
                throw StoreError.damaged("`\(path)` has no ID")
            }
            self.id = [UInt8](id)
            try pool.writeWithoutTransaction { db in
                guard let connection = db.sqliteConnection else { throw StoreError.failed("the database is closed") }
                // A full disk doesn't keep a database from being read.
                _ = try? SQLiteNumber.renew(connection, known: closedNumber)
            }
            let readers = CustomerReaders(path: path)
            let scanners = CustomerScanners(path: path)
            writer = try SQLiteWriter(path: path, configured: configured, identity: identity) { error in
                readers.close(error)
                scanners.close(error)
            }
            self.readers = readers
            self.scanners = scanners
        } catch {
            throw StoreError(error, path: path)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "database"
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 2
        return configuration
    }

    /// Creates the file so that only its owner can read it. SQLite gives its other files the same mode.
    private static func createFile(at path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError.unavailable(path: path, detail: String(cString: strerror(errno)).lowercased())
        }
        _ = Foundation.close(descriptor)
    }

    /// Removes the access of other users from files that were copied or created by hand.
    private static func closeToOthers(_ path: String) throws(StoreError) {
        for path in [path, path + "-wal", path + "-shm"] {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            guard chmod(path, 0o600) == 0 else {
                throw .unavailable(
                    path: path,
                    detail: "other users can read it, and the service isn't its owner; run `chmod 600` on it")
            }
        }
    }

    /// What an update writes is flushed too. GRDB's pool sets `synchronous` to NORMAL after preparing a connection,
    /// whatever the preparation said, so it is set on the open writer.
    private static func makeDurable(_ pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // GRDB leaves the log beside a closed database, so that it can be read on a read-only disk. If it can be
            // emptied, SQLite doesn't write it into another file that is put there.
            try db.execute(sql: "PRAGMA journal_size_limit = 0")
        }
    }

    /// The value of `PRAGMA synchronous` on the connection that writes; 2 is FULL.
    var synchronousLevel: Int64? {
        get throws { try writer.synchronousLevel }
    }

    /// The number of transactions for all writes.
    package var groupsWritten: Int { writer.groupsWritten }

    // MARK: Reading

    package func lookUp(_ id: Int64) async throws(StoreError) -> Customer? {
        try readers.customer(id)
    }

    package var lookUpNow: (@Sendable (Int64) throws(StoreError) -> Customer?)? {
        { [readers] id throws(StoreError) in try readers.customer(id) }
    }

    package func forEachCustomer(
        after id: Int64, through last: Int64,
        _ body: (UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) async throws(StoreError) {
        try scanners.forEachCustomer(after: id, through: last, body)
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        if let failure = writer.failure { throw failure }
        do {
            return try await pool.read { db in try body(try SQLiteSession(db: db)) }
        } catch {
            throw StoreError(error)
        }
    }

    // MARK: Writing

    /// One connection writes, one transaction after the other, so it needs no keys.
    package func write<Value: Sendable>(
        locking keys: [LockKey], _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = WriteResult<Value>()
        let gathers = writer.gather()
        // Lets tasks that are running already submit their writes first. On an idle machine, there are no such tasks.
        if gathers { await Task.yield() }
        do {
            return try await withCheckedThrowingContinuation { continuation in
                let write = SQLiteWriter.PendingWrite(
                    run: { session throws(StoreError) in result.value = try body(session) },
                    finish: { error in
                        switch (error, result.value) {
                        case (nil, let value?): continuation.resume(returning: value)
                        case (let error?, _): continuation.resume(throwing: error)
                        case (nil, nil): continuation.resume(throwing: StoreError.failed("a write didn't run"))
                        }
                    })
                writer.submit(write, endsGathering: gathers)
            }
        } catch {
            throw StoreError(error)
        }
    }

    package func replacementReport() async -> String? { await writer.replacementReport() }

    package func close() async throws(StoreError) {
        readers.close()
        scanners.close()
        let failure = await writer.close()
        let result = Result { try pool.close() }
        if let failure { throw failure }
        if case .failure(let error) = result { throw StoreError(error) }
    }
}

/// Carries a value from the transaction to its completion. Both run on the connection's queue.
private final class WriteResult<Value: Sendable>: @unchecked Sendable {
    // Sound: written and read on the one queue of the connection that writes, the read after the write.
    var value: Value?
}
