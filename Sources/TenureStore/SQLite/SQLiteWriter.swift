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
/// An write that throws leaves the others whole. None returns before the flush.
final class SQLiteWriter: @unchecked Sendable {
    // Sound: `waiting`, `isAtWork`, `isGathered` and `written` are touched between `lock.lock()` and `lock.unlock()` only; `session`
    // and `connection` on `queue` only, but for the initializer, which nobody else sees.
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

    /// One write. `run` keeps its own result, the last one where it runs again; `finish` says that it is flushed, or why it
    /// did not happen.
    struct PendingWrite: Sendable {
        let run: @Sendable (any DatabaseSession) throws(StoreError) -> Void
        let finish: @Sendable (StoreError?) -> Void
    }

    /// So that one flush never takes so long that readers of the log fall behind.
    private static let largest = 256
    /// Of so many that share a flush, none costs much any more.
    private static let enough = 32

    init(path: String) throws(StoreError) {
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
        // Pages, 16 MB: what is written often (the last page of every table) moves from the log to the file less often.
        _ = try session.rows("PRAGMA wal_autocheckpoint = 4000")
        self.connection = connection
        self.session = session
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
        waiting.append(write)
        if endsGathering { isGathered = false }
        let starts = !isAtWork && isReady
        if starts { isAtWork = true }
        lock.unlock()
        if starts { queue.async { self.drain() } }
    }

    /// Whether those who wait may go. Who gathers starts them where they may not. Under the lock.
    private var isReady: Bool { !isGathered || waiting.count >= Self.enough }

    /// After all that was submitted before. What comes later fails.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                while self.writeNext(evenUngathered: true) {}
                self.session = nil
                self.connection = nil
                continuation.resume()
            }
        }
    }

    private func drain() {
        if writeNext() { queue.async { self.drain() } }
    }

    /// Returns whether more may wait.
    private func writeNext(evenUngathered: Bool = false) -> Bool {
        let group = next(evenUngathered)
        guard !group.isEmpty else { return false }
        let errors = write(group)
        for (write, error) in zip(group, errors) { write.finish(error) }
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
        guard let session else { return group.map { _ in .failed("the record is closed") } }
        do {
            // Almost always all go well. A savepoint for each would copy every page that it touches.
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
