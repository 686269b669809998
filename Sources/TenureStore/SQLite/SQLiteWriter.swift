import Dispatch
import Foundation
import GRDBSQLite

/// The one connection that writes, and the acts that wait for it: all that came meanwhile share a transaction, and its
/// flush.
///
/// A flush for one costs nearly what one for many does, and they would mostly be of a few: who comes next follows at
/// once where the processors are busy. So the first of each group gathers it: it lets those who are at work already
/// come before it. Once enough wait, the group goes without it, so that half of many clients are written while the
/// other half are at work.
///
/// An write that throws leaves the others whole. None returns before the flush, and before a check that the flushed
/// files are still those at the database's path.
final class SQLiteWriter: @unchecked Sendable {
    // Sound: `waiting`, `isAtWork`, `isGathered`, `written` and `failed` are touched between `lock.lock()` and
    // `lock.unlock()` only; `session`, `connection`, `files`, `logSize` and `report` on `queue` only, but for the
    // initializer, before the writer is shared.
    private let lock = NSLock()
    private var waiting: [PendingWrite] = []
    /// Whether something is queued that looks at what waits.
    private var isAtWork = false
    /// Whether somebody gathers the next group, who will submit an write too.
    private var isGathered = false
    private var written = 0
    private let queue = DispatchQueue(label: "record")
    private var connection: SQLiteConnection?
    private var session: SQLiteSession?
    private let files: SQLiteOpenFiles
    /// Frames in the log after the last commit.
    private let logSize: UnsafeMutablePointer<Int32>
    /// Why nothing is written any more.
    private var failed: StoreError?
    private let terms: DatabaseTerms
    private let onFailure: @Sendable (StoreError) -> Void
    private var replacement: FileReplacement?
    private var report: String?

    /// One write. `run` keeps its own result, the last one where it runs again; `finish` says that it is flushed, or why it
    /// did not happen.
    struct PendingWrite: Sendable {
        let use: DatabaseTerms.Use
        let run: @Sendable (any DatabaseSession) throws(StoreError) -> Void
        let finish: @Sendable (StoreError?) -> Void
    }

    /// So that one flush never takes so long that readers of the log fall behind.
    private static let largest = 256
    /// Of so many that share a flush, none costs much any more.
    private static let enough = 32

    /// Pages, 16 MB: what is written often (the last page of every table) moves from the log to the file less often.
    private static let largestLog: Int32 = 4000

    /// - Parameters:
    ///   - configured: the path in the configuration, which may be a link to `path`.
    ///   - identity: the file at that path before it was opened.
    ///   - terms: what each transaction requires of the database.
    ///   - onFailure: called once, when the file was replaced.
    init(
        path: String, configured: String, identity: FileIdentity?, terms: DatabaseTerms,
        onFailure: @escaping @Sendable (StoreError) -> Void
    ) throws(StoreError) {
        let connection = try SQLiteConnection(path: path, for: .writing)
        let session = SQLiteSession(SQLiteStatements(on: connection.handle), remembering: HeaderNumbers())
        try session.execute("PRAGMA foreign_keys = ON")
        // Acknowledged means flushed: read back, since a log that is not flushed looks the same.
        try session.execute("PRAGMA synchronous = FULL")
        let level = try session.row("PRAGMA synchronous")?.integer(0)
        let journal = try session.row("PRAGMA journal_mode")?.text(0)
        guard level == 2, journal == "wal" else {
            throw .failed("it does not flush what it writes (journal `\(journal ?? "")`)")
        }
        // Kilobytes: indexes of random ids are read and written all over.
        try session.execute("PRAGMA cache_size = -32768")
        // Not by SQLite after each commit, but here after each check: a log must not be written into another file.
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
        self.terms = terms
        self.onFailure = onFailure
        self.connection = connection
        self.session = session
    }

    deinit {
        session = nil
        connection = nil
        logSize.deallocate()
    }

    /// How many groups were taken to be written; each that went well was one flush.
    var groupsWritten: Int {
        lock.lock()
        defer { lock.unlock() }
        return written
    }

    /// What `PRAGMA synchronous` says; 2 is FULL.
    var synchronousLevel: Int64? {
        get throws(StoreError) {
            let level = queue.sync { Result { () throws(StoreError) in try session?.row("PRAGMA synchronous") } }
            return try level.get()?.integer(0)
        }
    }

    /// Whether the caller gathers the next group: then it must submit an write that ends that, and soon.
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

    /// Whether those who wait may go. Who gathers starts them where they may not. Under the lock.
    private var isReady: Bool { !isGathered || waiting.count >= Self.enough }

    /// After all that was submitted before. What comes later fails.
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

    /// Why nothing is written any more; nil while the files are in place.
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
        // Requests are answered before this, which takes a while.
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

    /// What came of each.
    private func write(_ group: [PendingWrite]) -> [StoreError?] {
        if let failure { return group.map { _ in failure } }
        guard let session else { return group.map { _ in .failed("the record is closed") } }
        let use: DatabaseTerms.Use = group.allSatisfy { $0.use == .maintaining } ? .maintaining : .writing
        do {
            // Almost always all go well. A savepoint for each would copy every page that it touches.
            try transact(session, for: use) { () throws(StoreError) in
                for write in group { try write.run(session) }
            }
            return group.map { _ in nil }
        } catch {
            guard group.count > 1 else { return [error] }
        }
        do {
            var errors: [StoreError?] = []
            try transact(session, for: use) { () throws(StoreError) in
                errors = try group.map { write throws(StoreError) in try save(write, in: session) }
            }
            return errors
        } catch {
            return group.map { _ in error }
        }
    }

    private func transact(
        _ session: SQLiteSession, for use: DatabaseTerms.Use, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        try session.execute("BEGIN IMMEDIATE")
        do {
            try terms.check(session, for: use)
            try body()
            try session.execute("COMMIT")
        } catch {
            session.headers?.forget()
            if isInTransaction { _ = try? session.execute("ROLLBACK") }
            throw error
        }
    }

    /// One write in a savepoint: why it failed, and the others go on. Throws where the whole transaction ended.
    private func save(_ write: PendingWrite, in session: SQLiteSession) throws(StoreError) -> StoreError? {
        try session.execute("SAVEPOINT piece")
        do {
            try write.run(session)
        } catch {
            session.headers?.forget()
            // A full disk, for one, ends every write of it.
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
