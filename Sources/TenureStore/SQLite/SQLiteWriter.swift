import Dispatch
import Foundation
import GRDBSQLite

/// The one connection that writes, and the acts that wait for it: all that came meanwhile share a transaction, and its
/// flush.
///
/// An act that throws leaves the others whole. None returns before the flush.
final class SQLiteWriter: @unchecked Sendable {
    // Sound: `waiting`, `isAtWork` and `written` are touched between `lock.lock()` and `lock.unlock()` only; `session`
    // and `connection` on `queue` only, but for the initializer, which nobody else sees.
    private let lock = NSLock()
    private var waiting: [Act] = []
    /// Whether something is queued that looks at what waits.
    private var isAtWork = false
    private var written = 0
    private let queue = DispatchQueue(label: "record")
    private var connection: SQLiteConnection?
    private var session: SQLiteSession?

    /// One act. `run` keeps its own result, the last one where it runs again; `finish` says that it is flushed, or why it
    /// did not happen.
    struct Act: Sendable {
        let run: @Sendable (any SQLSession) throws(StoreError) -> Void
        let finish: @Sendable (StoreError?) -> Void
    }

    /// So that one flush never takes so long that readers of the log fall behind.
    private static let largest = 256

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

    /// How many transactions were flushed.
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

    func submit(_ act: Act) {
        lock.lock()
        waiting.append(act)
        let isIdle = !isAtWork
        isAtWork = true
        lock.unlock()
        if isIdle { queue.async { self.drain() } }
    }

    /// After all that was submitted before. What comes later fails.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                while self.writeNext() {}
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
    private func writeNext() -> Bool {
        let group = next()
        guard !group.isEmpty else { return false }
        let errors = write(group)
        for (act, error) in zip(group, errors) { act.finish(error) }
        return true
    }

    private func next() -> [Act] {
        lock.lock()
        defer { lock.unlock() }
        let group = Array(waiting.prefix(Self.largest))
        waiting.removeFirst(group.count)
        if group.isEmpty { isAtWork = false } else { written += 1 }
        return group
    }

    // MARK: Transactions

    /// What came of each.
    private func write(_ group: [Act]) -> [StoreError?] {
        guard let session else { return group.map { _ in .failed("the record is closed") } }
        do {
            // Almost always all go well. A savepoint for each would copy every page that it touches.
            try transact(session) { () throws(StoreError) in
                for act in group { try act.run(session) }
            }
            return group.map { _ in nil }
        } catch {
            guard group.count > 1 else { return [error] }
        }
        do {
            var errors: [StoreError?] = []
            try transact(session) { () throws(StoreError) in
                errors = try group.map { act throws(StoreError) in try save(act, in: session) }
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

    /// One act in a savepoint: why it failed, and the others go on. Throws where the whole transaction ended.
    private func save(_ act: Act, in session: SQLiteSession) throws(StoreError) -> StoreError? {
        try session.execute("SAVEPOINT act")
        do {
            try act.run(session)
        } catch {
            session.headers?.forget()
            // A full disk, for one, ends every act of it.
            guard isInTransaction else { throw error }
            try session.execute("ROLLBACK TO act")
            try session.execute("RELEASE act")
            return error
        }
        try session.execute("RELEASE act")
        return nil
    }

    private var isInTransaction: Bool {
        connection.map { sqlite3_get_autocommit($0.handle) == 0 } ?? false
    }
}
