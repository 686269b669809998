import Foundation
import GRDB
import TenureCore

/// The record in one SQLite file: the default, for one machine.
///
/// GRDB brings it up to date and reads it. What is asked for every request goes past it: writes, in groups that share a
/// transaction and are flushed before they return, and looking up a customer.
package struct SQLiteDatabase: Database {
    package let id: [UInt8]
    private let pool: DatabasePool
    private let readers: CustomerReaders
    private let scanners: CustomerScanners
    private let writer: SQLiteWriter
    private let terms: DatabaseTerms

    /// Opens the database. Throws `unusable` where something else lies there, and leaves that as it is.
    package init(path: String, _ opening: DatabaseOpening = DatabaseOpening()) throws(StoreError) {
        switch try SQLiteFile.contents(at: path, knowing: opening.migrations) {
        case .record, .unknown: break
        case .nothing, .noTables:
            guard opening.creates else {
                throw .unusable(
                    database: path,
                    detail: """
                        it holds no record; what is copied without the log beside it (`-wal`) may hold nothing: copy \
                        records by `tenure database backup`
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
            id = try Self.prepare(pool, opening, opening.terms(for: path))
            terms = opening.terms(for: path, opened: id)
            try pool.writeWithoutTransaction { db in
                guard let connection = db.sqliteConnection else { throw StoreError.failed("the record is closed") }
                // A full disk doesn't keep a database from being read.
                _ = try? SQLiteNumber.renew(connection, known: closedNumber)
            }
            let readers = CustomerReaders(path: path)
            let scanners = CustomerScanners(path: path)
            writer = try SQLiteWriter(path: path, configured: configured, identity: identity, terms: terms) { error in
                readers.close(error)
                scanners.close(error)
            }
            self.readers = readers
            self.scanners = scanners
        } catch {
            throw StoreError(error, path: path)
        }
    }

    /// Creates the database, or brings it up to date, as far as `opening` permits. Returns its ID.
    private static func prepare(
        _ pool: DatabasePool, _ opening: DatabaseOpening, _ terms: DatabaseTerms
    ) throws -> [UInt8] {
        let before = try pool.read { db in
            try db.tableExists(DatabaseTable.state) ? try DatabaseHeader.read(in: SQLiteSession(db: db)) : nil
        }
        if let before, let objection = terms.objectionToNewer(before, for: opening.use) { throw objection }
        if before == nil ? opening.creates : opening.migrates {
            try Migration.migrator(of: opening.migrations, for: opening.bundleID).migrate(pool)
            if before != nil, before?.bundleID == nil, let bundleID = opening.bundleID {
                try pool.write { try $0.execute(sql: DatabaseHeader.claim, arguments: [bundleID]) }
            }
        }
        let header = try pool.read { try DatabaseHeader.read(in: SQLiteSession(db: $0)) }
        guard header.id.count == 16 else { throw StoreError.damaged("`\(terms.name)` has no ID") }
        if let objection = terms.objection(to: header, for: opening.use) { throw objection }
        return header.id
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

    /// What `PRAGMA synchronous` says on the connection that writes; 2 is FULL.
    var synchronousLevel: Int64? {
        get throws { try writer.synchronousLevel }
    }

    /// How many transactions the acts took together.
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
            return try await pool.read { [terms] db in
                let session = try SQLiteSession(db: db)
                try terms.check(session, for: .reading)
                return try body(session)
            }
        } catch {
            throw StoreError(error)
        }
    }

    // MARK: Writing

    /// One connection writes, one act after the other: no keys are needed.
    package func write<Value: Sendable>(
        locking keys: [LockKey], _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await write(for: .writing, body)
    }

    package func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await write(for: .maintaining, body)
    }

    private func write<Value: Sendable>(
        for use: DatabaseTerms.Use, _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = WriteResult<Value>()
        let gathers = writer.gather()
        // Those who are at work already have their turn first. Nobody is waited for: on an idle machine there are none.
        if gathers { await Task.yield() }
        do {
            return try await withCheckedThrowingContinuation { continuation in
                let write = SQLiteWriter.PendingWrite(
                    use: use,
                    run: { session throws(StoreError) in result.value = try body(session) },
                    finish: { error in
                        switch (error, result.value) {
                        case (nil, let value?): continuation.resume(returning: value)
                        case (let error?, _): continuation.resume(throwing: error)
                        case (nil, nil): continuation.resume(throwing: StoreError.failed("a write did not run"))
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

/// Carries a value from the act to its end, both of which run on the connection's queue.
private final class WriteResult<Value: Sendable>: @unchecked Sendable {
    // Sound: written and read on the one queue of the connection that writes, the read after the write.
    var value: Value?
}
