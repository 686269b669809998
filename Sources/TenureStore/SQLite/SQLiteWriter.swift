import Dispatch
import Foundation
import GRDBSQLite

/// The only connection that writes, and the writes that wait for it. All waiting writes share a transaction and its
/// flush.
///
/// A flush for one write takes nearly as long as one for many. So the first write of each group *gathers* the group: it
/// lets tasks that are running already submit their writes first. If enough writes wait, the group doesn't wait for it.
/// Then, with many clients, half of the writes are flushed while the other half are prepared.
///
/// A write that throws doesn't affect the others. None returns before the flush, and before a check that the flushed
/// files are still those at the database's path.
final class SQLiteWriter: @unchecked Sendable {
    // Sound: `waiting`, `isAtWork`, `isGathered`, `written` and `failed` are touched between `lock.lock()` and
    // `lock.unlock()` only; `session`, `connection`, `files`, `logSize` and `report` on `queue` only, but for the
    // initializer, before the writer is shared.
    private let lock = NSLock()
    private var waiting: [PendingWrite] = []
    /// Whether a block is queued that writes the waiting writes.
    private var isAtWork = false
    /// Whether a caller gathers the next group. It will submit a write too.
    private var isGathered = false
    private var written = 0
    private let queue = DispatchQueue(label: "database")
    private var connection: SQLiteConnection?
    private var session: SQLiteSession?
    private let files: SQLiteOpenFiles
    /// Frames in the log after the last commit.
    private let logSize: UnsafeMutablePointer<Int32>
    /// The reason why nothing is written anymore.
    private var failed: StoreError?
    private let onFailure: @Sendable (StoreError) -> Void
    private var replacement: FileReplacement?
    private var report: String?

    /// One write. `run` stores its own result, and may run again. `finish` is called when it is flushed, or with the
    /// error.
    struct PendingWrite: Sendable {
        let run: @Sendable (any DatabaseSession) throws(StoreError) -> Void
        let finish: @Sendable (StoreError?) -> Void
    }

    /// The maximum number of writes in a group, so that a flush doesn't take too long.
    private static let largest = 256
    /// The number of writes for which a group doesn't wait any longer.
    private static let enough = 32

    /// The number of pages (16 MB) after which the log is written into the file. Pages that change often are then
    /// written less often.
    private static let largestLog: Int32 = 4000

    /// - Parameters:
    ///   - configured: the path in the configuration, which may be a link to `path`.
    ///   - identity: the file at that path before it was opened.
    ///   - onFailure: called once, when the file was replaced.
    init(
        path: String, configured: String, identity: FileIdentity?, onFailure: @escaping @Sendable (StoreError) -> Void
    ) throws(StoreError) {
        let connection = try SQLiteConnection(path: path, for: .writing)
        let session = SQLiteSession(SQLiteStatements(on: connection.handle), remembering: HeaderNumbers())
        try session.execute("PRAGMA foreign_keys = ON")
        // Acknowledged writes must be flushed. The setting is read back to be sure.
        try session.execute("PRAGMA synchronous = FULL")
        let level = try session.row("PRAGMA synchronous")?.integer(0)
        let journal = try session.row("PRAGMA journal_mode")?.text(0)
        guard level == 2, journal == "wal" else {
            throw .failed("it doesn't flush what it writes (journal `\(journal ?? "")`)")
        }
        // In kilobytes. Indexes of random IDs are read and written in random places.
        try session.execute("PRAGMA cache_size = -32768")
        // SQLite must not write the log into the file after each commit. This class does, after it has checked the
        // file.
        _ = try session.rows("PRAGMA wal_autocheckpoint = 0")
        logSize = .allocate(capacity: 1)
        logSize.initialize(to: 0)
        let number = try session.row("PRAGMA user_version")?.integer(0) ?? 0
        do throws(StoreError) {
            files = try SQLiteOpenFiles(
                configured: configured, identity: identity, number: UInt32(truncatingIfNeeded: number),
                connection: connection.handle)
        } catch {
            logSize.deallocate()
            throw error
        }
        sqlite3_wal_hook(
            connection.handle,
            { context, _, _, frames in
                context?.assumingMemoryBound(to: Int32.self).pointee = frames
                return SQLITE_OK
            }, logSize)
        self.onFailure = onFailure
        self.connection = connection
        self.session = session
    }

    deinit {
        session = nil
        connection = nil
        logSize.deallocate()
    }

    /// The number of groups so far. Each successful one was flushed once.
    var groupsWritten: Int {
        lock.lock()
        defer { lock.unlock() }
        return written
    }

    /// The value of `PRAGMA synchronous`; 2 is FULL.
    var synchronousLevel: Int64? {
        get throws(StoreError) {
            let level = queue.sync { Result { () throws(StoreError) in try session?.row("PRAGMA synchronous") } }
            return try level.get()?.integer(0)
        }
    }

    /// Returns whether the caller gathers the next group. If so, it must soon submit a write that ends the gathering.
    func gather() -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if isGathered { return false }
        isGathered = true
        return true
    }

    func submit(_ write: PendingWrite, endsGathering: Bool) {
        lock.lock()
        if endsGathering { isGathered = false }
        if let failed {
            lock.unlock()
            return write.finish(failed)
        }
        waiting.append(write)
        let starts = !isAtWork && isReady
        if starts { isAtWork = true }
        lock.unlock()
        if starts { queue.async { self.drain() } }
    }

    /// Whether the waiting writes may start. Otherwise, the gathering caller starts them. Needs the lock.
    private var isReady: Bool { !isGathered || waiting.count >= Self.enough }

    /// Closes after all submitted writes. Later ones fail.
    ///
    /// Returns what happened to the file if that is found only now: closing would write the log into it.
    func close() async -> StoreError? {
        await withCheckedContinuation { continuation in
            queue.async {
                while self.writeNext(evenUngathered: true) {}
                let isKnown = self.failure != nil
                _ = self.check()
                self.rescueOnce()
                self.session = nil
                self.connection = nil
                let report = isKnown ? nil : self.report
                continuation.resume(
                    returning: report.map { .unusable(database: self.files.path, detail: $0) })
            }
        }
    }

    // MARK: Files

    /// The reason why nothing is written anymore; nil while the files are in place.
    var failure: StoreError? {
        lock.lock()
        defer { lock.unlock() }
        return failed
    }

    /// See `Database.replacementReport`.
    func replacementReport() async -> String? {
        await withCheckedContinuation { continuation in
            queue.async {
                _ = self.check()
                self.rescueOnce()
                continuation.resume(returning: self.report)
            }
        }
    }

    /// Compares the open files with those at the path. If they differ, everything that waits fails.
    private func check() -> StoreError? {
        if let failure { return failure }
        guard let connection, let replacement = files.replacement() else { return nil }
        self.replacement = replacement
        let error = StoreError.replaced("\(replacement)")
        lock.lock()
        failed = error
        let rest = waiting
        waiting = []
        lock.unlock()
        // Never closed: the last connection that closes writes the log into the file at the path.
        _ = Unmanaged.passRetained(connection)
        onFailure(error)
        for write in rest { write.finish(error) }
        // This takes a while, so requests fail first.
        queue.async { self.rescueOnce() }
        return error
    }

    private func rescueOnce() {
        guard let replacement, let connection, report == nil else { return }
        report = SQLiteRescue(files: files, connection: connection.handle, replacement: replacement).run()
    }

    /// Writes a large log into the file. A reader may be in the way; then a later commit tries again.
    private func moveLog() {
        guard let connection, logSize.pointee >= Self.largestLog else { return }
        logSize.pointee = 0
        sqlite3_wal_checkpoint_v2(connection.handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }

    // MARK: Groups

    private func drain() {
        if writeNext() { queue.async { self.drain() } }
    }

    /// Returns whether more may wait.
    private func writeNext(evenUngathered: Bool = false) -> Bool {
        let group = next(evenUngathered)
        guard !group.isEmpty else { return false }
        let errors = write(group)
        let failure = check()
        for (write, error) in zip(group, errors) { write.finish(failure ?? error) }
        if failure == nil { moveLog() }
        return true
    }

    private func next(_ evenUngathered: Bool) -> [PendingWrite] {
        lock.lock()
        defer { lock.unlock() }
        guard isReady || evenUngathered else {
            isAtWork = false
            return []
        }
        let group: [PendingWrite]
        if waiting.count <= Self.largest {
            group = waiting
            waiting = []
        } else {
            group = Array(waiting.prefix(Self.largest))
            waiting.removeFirst(group.count)
        }
        if group.isEmpty { isAtWork = false } else { written += 1 }
        return group
    }

    // MARK: Transactions

    /// Writes a group. Returns the error of each write.
    private func write(_ group: [PendingWrite]) -> [StoreError?] {
        if let failure { return group.map { _ in failure } }
        guard let session else { return group.map { _ in .failed("the database is closed") } }
        do {
            // Almost always all succeed. A savepoint for each would copy every page that it changes.
            try transact(session) { () throws(StoreError) in
                for write in group { try write.run(session) }
            }
            return group.map { _ in nil }
        } catch {
            guard group.count > 1 else { return [error] }
        }
        do {
            var errors: [StoreError?] = []
            try transact(session) { () throws(StoreError) in
                errors = try group.map { write throws(StoreError) in try save(write, in: session) }
            }
            return errors
        } catch {
            return group.map { _ in error }
        }
    }

    private func transact(_ session: SQLiteSession, _ body: () throws(StoreError) -> Void) throws(StoreError) {
        try session.execute("BEGIN IMMEDIATE")
        do {
            try body()
            try session.execute("COMMIT")
        } catch {
            session.headers?.forget()
            if isInTransaction { _ = try? session.execute("ROLLBACK") }
            throw error
        }
    }

    /// Runs one write in a savepoint, and returns its error. Throws if the whole transaction has ended.
    private func save(_ write: PendingWrite, in session: SQLiteSession) throws(StoreError) -> StoreError? {
        try session.execute("SAVEPOINT piece")
        do {
            try write.run(session)
        } catch {
            session.headers?.forget()
            // A full disk, for example, ends the whole transaction.
            guard isInTransaction else { throw error }
            try session.execute("ROLLBACK TO piece")
            try session.execute("RELEASE piece")
            return error
        }
        try session.execute("RELEASE piece")
        return nil
    }

    private var isInTransaction: Bool {
        connection.map { sqlite3_get_autocommit($0.handle) == 0 } ?? false
    }
}
