import CSQLite
import Foundation
import TenureCore
import TenureFileAttributes

/// A database in one SQLite file: the default, for a service on one machine.
///
/// One connection writes, other connections read. Writes that wait at the same time share one transaction, and each
/// returns after the transaction was flushed to the disk.
package struct SQLiteDatabase: Database {
    package let id: [UInt8]
    private let readers: SQLiteReaders
    private let writer: SQLiteWriter
    /// What every transaction requires of the database.
    private let requirements: DatabaseRequirements

    /// Opens the database. If the file at the path isn't a Tenure database, throws `unusable` and leaves the file
    /// unchanged.
    package init(path: String, _ opening: DatabaseOpening = DatabaseOpening()) throws(StoreError) {
        guard try SQLiteFile.holdsDatabase(at: path, knowing: opening.migrations) || opening.creates else {
            throw .unusable(
                database: path,
                detail: """
                    it has no data; a copy without the log beside it (`-wal`) may be empty, so copy databases with \
                    `tenure database backup`
                    """)
        }
        if let objection = NetworkFileSystem.objection(to: path) ?? SQLiteFile.objectionToNames(of: path) {
            throw objection
        }
        try Self.createFile(at: path)
        let file = SQLiteFile.resolved(path)
        let lock = try SQLiteOpeningLock(database: file)
        defer { withExtendedLifetime(lock) {} }
        // Read the identity and the copy number before a connection opens the file, which creates a log beside it.
        let identity = FileIdentity(path: path)
        let closedNumber = SQLiteCopyNumber.ofClosedFile(at: path)
        try Self.removeAccessOfOthers(to: file)
        let connection = try Self.connectForWriting(file)
        id = try connection.open(opening, under: opening.requirements(for: path))
        requirements = opening.requirements(for: path, opened: id)
        try connection.execute("PRAGMA foreign_keys = ON")
        // The cache's size in kilobytes (negative numbers mean kilobytes). A large cache helps, because indexes of
        // random IDs are read and written at random places.
        try connection.execute("PRAGMA cache_size = -32768")
        // SQLite must not write the log into the file after a commit: another file may be at the path. `SQLiteWriter`
        // checks that first.
        try connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.headers = HeaderRowIDs()
        // On a full disk, `renew` fails, but the database can still be read.
        _ = try? SQLiteCopyNumber.renew(connection, known: closedNumber)
        let readers = SQLiteReaders(path: file)
        writer = SQLiteWriter(
            try SQLiteOpenFiles(configured: path, identity: identity, connection: connection), under: requirements
        ) { readers.close($0) }
        self.readers = readers
    }

    /// Opens the connection that writes.
    private static func connectForWriting(_ path: String) throws(StoreError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, for: .writing)
        let journal = try connection.row("PRAGMA journal_mode = WAL")?.text(0)
        try connection.execute("PRAGMA synchronous = FULL")
        // An acknowledged write must be flushed. Read the settings back: without a flush, everything works until a
        // crash.
        guard journal == "wal", try connection.row("PRAGMA synchronous")?.integer(0) == 2 else {
            throw .failed(
                "SQLite can't flush each write of `\(path)` (journal mode `\(journal ?? "")`); move it to a local disk")
        }
        // SQLite would delete the log when it closes the database. The log is kept, but empty, so that the database can
        // be read on a read-only disk. Once it is empty, SQLite can't write it into a file that replaces the database.
        var keepsLog: CInt = 1
        sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keepsLog)
        try connection.execute("PRAGMA journal_size_limit = 0")
        return connection
    }

    /// Creates the file so that only its owner may read it. SQLite gives the log and the index the same mode.
    private static func createFile(at path: String) throws(StoreError) {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unavailable(path: path, detail: systemMessage) }
        _ = Foundation.close(descriptor)
    }

    /// Makes the database's files accessible to their owner only. Files that were copied or created by hand may be
    /// accessible to other users.
    private static func removeAccessOfOthers(to path: String) throws(StoreError) {
        for path in [path, path + SQLiteOpenFiles.logSuffix, path + SQLiteOpenFiles.indexSuffix] {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            guard chmod(path, 0o600) == 0 else {
                throw .unavailable(
                    path: path,
                    detail: "other users can read it, and this process isn't its owner; run `chmod 600` as its owner")
            }
        }
    }

    /// How many groups of writes were written, one transaction each; see `SQLiteWriter`.
    package var groupsWritten: Int { writer.groupsWritten }

    // MARK: Reading

    package func lookUp(_ id: Int64) async throws(StoreError) -> Customer? { try readers.customer(id) }

    package var lookUpNow: (@Sendable (Int64) throws(StoreError) -> Customer?)? {
        { [readers] id throws(StoreError) in try readers.customer(id) }
    }

    package func forEachCustomer(
        after id: Int64, through last: Int64, _ body: EncodedCustomerBody
    ) async throws(StoreError) {
        try readers.forEachCustomer(after: id, through: last, body)
    }

    package func read<Value: Sendable>(_ body: @escaping SessionBody<Value>) async throws(StoreError) -> Value {
        if let failure = writer.failure { throw failure }
        return try await readers.read { [requirements] session throws(StoreError) in
            try requirements.check(session, for: .reading)
            return try body(session)
        }
    }

    // MARK: Writing

    /// Ignores the keys: one connection writes, one transaction after the other.
    package func write<Value: Sendable>(
        locking keys: [LockKey], _ body: @escaping SessionBody<Value>
    ) async throws(StoreError) -> Value {
        try await write(for: .writing, body)
    }

    /// Writes as `write` does, because in SQLite every write runs alone. Unlike `write`, it also works after the
    /// content was moved to another database, for commands such as `tenure database reopen`.
    package func writeAlone<Value: Sendable>(_ body: @escaping SessionBody<Value>) async throws(StoreError) -> Value {
        try await write(for: .maintaining, body)
    }

    /// Submits a write to `writer`, and waits until the write's group is flushed to the disk.
    private func write<Value: Sendable>(
        for use: DatabaseRequirements.Use, _ body: @escaping SessionBody<Value>
    ) async throws(StoreError) -> Value {
        let value = Locked<Value?>(nil)
        let gathers = writer.gather()
        // Let other tasks that have work run first, so that their writes join the group. On an idle machine, no other
        // task has work, so this doesn't wait.
        if gathers { await Task.yield() }
        let error: StoreError? = await withCheckedContinuation { continuation in
            let write = SQLiteWriter.PendingWrite(
                use: use,
                run: { session throws(StoreError) in
                    let result = try body(session)
                    value.withLock { $0 = result }
                },
                finish: { continuation.resume(returning: $0) })
            writer.submit(write, endsGathering: gathers)
        }
        if let error { throw error }
        guard let result = value.withLock({ $0 }) else { throw .defect("a write didn't run") }
        return result
    }

    package func replacementReport() async -> String? { await writer.replacementReport() }

    package func clearLog() async -> Bool { await writer.clearLog() }

    package func close() async throws(StoreError) {
        readers.close()
        if let failure = await writer.close() { throw failure }
    }
}
