import CSQLite
import Dispatch
import TenureCore

/// The one connection that writes, and the writes that wait for it. All that came in the meantime share a transaction and
/// its flush.
///
/// A flush of one write costs nearly what a flush of many does. If each began at once, most would be of a few: on busy
/// processors the next one follows immediately. So the first of each group gathers it: it lets tasks that have work go
/// first. Once enough writes wait, the group starts without it, so that half of many clients are written while the other
/// half are at work.
///
/// A write that throws leaves the others whole. None returns before the flush, and before a check that the flushed files
/// are still those at the database's path.
final class SQLiteWriter: @unchecked Sendable {
    // A lock can't make it safe: `files`, `replacement`, `report` and `log` are used while a transaction runs, and
    // submitting a write must not wait for that. They are used on `queue` only, except by the initializer, before the
    // writer is shared.
    private let queue = DispatchQueue(label: "database")
    private var files: SQLiteOpenFiles?
    private var replacement: FileReplacement?
    private var report: String?
    private let log = Log()
    private let path: String
    private let terms: DatabaseTerms
    private let onFailure: @Sendable (StoreError) -> Void
    private let state = Locked(State())

    private struct State {
        var waiting: [PendingWrite] = []
        /// Whether a block is queued that writes the waiting writes.
        var isWriting = false
        /// Whether a write gathers the next group; it is submitted soon.
        var isGathered = false
        var groupsWritten = 0
        /// Why nothing is written anymore.
        var failure: StoreError?

        /// Whether the writes that wait may run. If they may not, the write that gathers starts them.
        var isReady: Bool { !isGathered || waiting.count >= SQLiteWriter.enough }
    }

    /// One write. `run` may run twice; the last result counts. `finish` gets the reason if it did not happen.
    struct PendingWrite: Sendable {
        let use: DatabaseTerms.Use
        let run: @Sendable (any DatabaseSession) throws(StoreError) -> Void
        let finish: @Sendable (StoreError?) -> Void
    }

    private final class Log {
        /// Frames after the last commit.
        var size: Int32 = 0
        /// Whether nothing was written since the log was emptied.
        var isEmpty = false
    }

    /// The largest group. A flush never takes so long that readers of the log fall behind.
    private static let largest = 256
    /// A group of this size starts at once: each of its writes has a small part of the flush.
    private static let enough = 32

    /// Pages, 16 MB: what is written often (the last page of every table) moves from the log to the file less often.
    private static let largestLog: Int32 = 4000

    /// - Parameters:
    ///   - files: with the connection that writes.
    ///   - terms: what each transaction requires of the database.
    ///   - onFailure: called once, if the file was replaced.
    init(
        _ files: SQLiteOpenFiles, under terms: DatabaseTerms, onFailure: @escaping @Sendable (StoreError) -> Void
    ) {
        self.files = files
        self.terms = terms
        self.onFailure = onFailure
        path = files.path
        sqlite3_wal_hook(
            files.connection.handle,
            { log, _, _, frames in
                let log = log.map { Unmanaged<Log>.fromOpaque($0).takeUnretainedValue() }
                log?.size = frames
                log?.isEmpty = false
                return SQLITE_OK
            }, Unmanaged.passUnretained(log).toOpaque())
    }

    /// How many groups were taken to be written; each that succeeded was one flush.
    var groupsWritten: Int { state.withLock(\.groupsWritten) }

    /// Why nothing is written anymore; nil while the files are in place.
    var failure: StoreError? { state.withLock(\.failure) }

    /// Whether the caller gathers the next group. If so, it must soon submit a write that ends that.
    func gather() -> Bool {
        state.withLock { state in
            defer { state.isGathered = true }
            return !state.isGathered
        }
    }

    func submit(_ write: PendingWrite, endsGathering: Bool) {
        let (starts, failure) = state.withLock { state -> (Bool, StoreError?) in
            if endsGathering { state.isGathered = false }
            guard state.failure == nil else { return (false, state.failure) }
            state.waiting.append(write)
            let starts = !state.isWriting && state.isReady
            if starts { state.isWriting = true }
            return (starts, nil)
        }
        if let failure { write.finish(failure) }
        if starts { queue.async { self.drain() } }
    }

    /// Closes the connection after everything that was submitted before. Later writes fail.
    ///
    /// Returns what happened to the file if that is found only now: closing would write the log into it.
    func close() async -> StoreError? {
        await withCheckedContinuation { continuation in
            queue.async {
                while self.writeNext(evenUngathered: true) {}
                let isKnown = self.failure != nil
                _ = self.check()
                self.rescueOnce()
                self.files = nil
                let report = isKnown ? nil : self.report
                continuation.resume(returning: report.map { .unusable(database: self.path, detail: $0) })
            }
        }
    }

    // MARK: Files

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
        guard let files, let replacement = files.replacement() else { return nil }
        self.replacement = replacement
        let error = StoreError.replaced("\(replacement)")
        let rest = state.withLock { state in
            defer { state.waiting = [] }
            state.failure = error
            return state.waiting
        }
        // Never closed: the last connection that closes writes the log into the file at the path.
        _ = Unmanaged.passRetained(files.connection)
        onFailure(error)
        for write in rest { write.finish(error) }
        // This takes a while, so requests fail first.
        queue.async { self.rescueOnce() }
        return error
    }

    private func rescueOnce() {
        guard let replacement, let files, report == nil else { return }
        report = SQLiteRescue(files: files, replacement: replacement).run()
    }

    /// Writes a large log into the file. If a reader is in the way, a later commit tries again.
    private func moveLog() {
        guard log.size >= Self.largestLog else { return }
        log.size = 0
        files?.connection.checkpoint()
    }

    /// See `Database.clearLog`.
    func clearLog() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async {
                if !self.log.isEmpty, self.check() == nil, let connection = self.files?.connection {
                    self.log.isEmpty = connection.emptyLog()
                    if self.log.isEmpty { self.log.size = 0 }
                }
                continuation.resume(returning: self.log.isEmpty || self.failure != nil || self.files == nil)
            }
        }
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
        state.withLock { state in
            guard state.isReady || evenUngathered, !state.waiting.isEmpty else {
                state.isWriting = false
                return []
            }
            // A write that runs alone is its own group.
            let others = state.waiting.prefix(Self.largest).prefix { $0.use != .maintaining }
            let group = Array(others.isEmpty ? state.waiting.prefix(1) : others)
            state.waiting.removeFirst(group.count)
            state.groupsWritten += 1
            return group
        }
    }

    // MARK: Transactions

    /// Returns the error of each write, or nil.
    private func write(_ group: [PendingWrite]) -> [StoreError?] {
        if let failure { return group.map { _ in failure } }
        guard let connection = files?.connection else { return group.map { _ in .failed("the database is closed") } }
        do {
            // Almost always all succeed. A savepoint for each would copy every page that it touches.
            try transact(group, on: connection) { () throws(StoreError) in
                for write in group { try write.run(connection) }
            }
            return group.map { _ in nil }
        } catch {
            guard group.count > 1 else { return [error] }
        }
        do {
            return try transact(group, on: connection) { () throws(StoreError) in
                try group.map { write throws(StoreError) in try save(write, in: connection) }
            }
        } catch {
            return group.map { _ in error }
        }
    }

    /// Runs a transaction for these writes, which all use the database in the same way.
    private func transact<Value>(
        _ group: [PendingWrite], on connection: SQLiteConnection, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try connection.transaction { () throws(StoreError) in
            try terms.check(connection, for: group.first?.use ?? .writing)
            return try body()
        }
    }

    /// Runs one write in a savepoint and returns its error. Throws if the error ended the whole transaction.
    private func save(_ write: PendingWrite, in connection: SQLiteConnection) throws(StoreError) -> StoreError? {
        try connection.execute("SAVEPOINT piece")
        do {
            try write.run(connection)
        } catch {
            connection.headers?.forget()
            // A full disk, for example, ends the whole transaction.
            guard connection.isInTransaction else { throw error }
            try connection.execute("ROLLBACK TO piece")
            try connection.execute("RELEASE piece")
            return error
        }
        try connection.execute("RELEASE piece")
        return nil
    }
}
