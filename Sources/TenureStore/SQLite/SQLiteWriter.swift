import CSQLite
import Dispatch
import TenureCore

/// The only connection to an SQLite database that writes, and the queue of waiting writes. A group of waiting writes
/// shares one transaction and one flush to the disk, because flushing many writes costs little more than flushing one.
///
/// The first write of a group *gathers* the group: before this write is submitted, its task lets other tasks run, which
/// may submit writes for the same group. Once `groupSizeToStart` writes wait, the group starts without the first write.
///
/// A write that throws changes nothing, and the other writes of its group succeed. A write returns after the flush, and
/// after a check that the flushed files are still at the database's path.
final class SQLiteWriter: @unchecked Sendable {
    // A lock can't make this class safe: `files`, `replacement`, `report` and `log` are used while a transaction runs,
    // and submitting a write must not wait for that. So these variables are used on `queue` only, except by the
    // initializer, before the writer is shared.
    private let queue = DispatchQueue(label: "database")
    /// The open files; nil after `close`.
    private var files: SQLiteOpenFiles?
    /// What happened to the files; nil while they are in place.
    private var replacement: FileReplacement?
    /// The message for the operator about the replaced file (`SQLiteRescue.run`); nil before the contents were saved.
    private var report: String?
    private let log = Log()
    private let path: String
    private let requirements: DatabaseRequirements
    private let onFailure: @Sendable (StoreError) -> Void
    private let state = Locked(State())

    private struct State {
        var waiting: [PendingWrite] = []
        /// Whether a block is queued that will run the waiting writes.
        var isWriting = false
        /// Whether the next group is being gathered by a write that isn't submitted yet.
        var isGathering = false
        var groupsWritten = 0
        /// Why nothing is written anymore; nil while the files are in place.
        var failure: StoreError?

        /// Whether the waiting writes may run now. Otherwise, they start when the write that gathers the group is
        /// submitted.
        var isReady: Bool { !isGathering || waiting.count >= SQLiteWriter.groupSizeToStart }
    }

    struct PendingWrite: Sendable {
        let use: DatabaseRequirements.Use
        /// Executes the statements of the write. It may run twice; the result of the last run counts.
        let run: @Sendable (any DatabaseSession) throws(StoreError) -> Void
        /// Called once, after the flush. The error is nil if the write succeeded.
        let finish: @Sendable (StoreError?) -> Void
    }

    /// The state of SQLite's write-ahead log after the last commit, which SQLite reports.
    private final class Log {
        /// The number of frames (pages) in the log after the last commit.
        var size: Int32 = 0
        /// Whether nothing was written since the log was emptied.
        var isEmpty = false
    }

    /// The maximum size of a group, so that a flush stays short.
    private static let maximumGroupSize = 256
    /// The number of waiting writes with which a group starts immediately. Waiting for more writes would save little:
    /// the cost of a flush for each write is already small.
    private static let groupSizeToStart = 32

    /// The number of pages (16 MB) in the log at which they are copied into the database's file. A large log saves
    /// work: a page that is written often, such as the last page of a table, is copied only once.
    private static let checkpointSize: Int32 = 4000

    /// - Parameters:
    ///   - files: the open files, with the connection that writes.
    ///   - requirements: what each transaction requires of the database.
    ///   - onFailure: called once, if the file was replaced.
    init(
        _ files: SQLiteOpenFiles, under requirements: DatabaseRequirements,
        onFailure: @escaping @Sendable (StoreError) -> Void
    ) {
        self.files = files
        self.requirements = requirements
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

    /// How many groups were written, including groups that failed. Each group that succeeded was flushed once.
    var groupsWritten: Int { state.withLock(\.groupsWritten) }

    /// Why nothing is written anymore; nil while the files are in place.
    var failure: StoreError? { state.withLock(\.failure) }

    /// Returns whether the caller gathers the next group. If so, the caller must soon submit a write with
    /// `endsGathering`.
    func gather() -> Bool {
        state.withLock { state in
            defer { state.isGathering = true }
            return !state.isGathering
        }
    }

    /// Queues a write. Starts the next group, unless a group is being written, or the next group still gathers writes.
    ///
    /// - Parameter endsGathering: whether this is the write for which `gather` returned true.
    func submit(_ write: PendingWrite, endsGathering: Bool) {
        let (starts, failure) = state.withLock { state -> (Bool, StoreError?) in
            if endsGathering { state.isGathering = false }
            guard state.failure == nil else { return (false, state.failure) }
            state.waiting.append(write)
            let starts = !state.isWriting && state.isReady
            if starts { state.isWriting = true }
            return (starts, nil)
        }
        if let failure { write.finish(failure) }
        if starts { queue.async { self.drain() } }
    }

    /// Closes the connection after the writes that were submitted before. Later writes fail. If a file was replaced,
    /// the connection stays open, because closing it would write the log into the new file.
    ///
    /// - Returns: an error if a file was replaced and no earlier check has noticed that; otherwise nil.
    func close() async -> StoreError? {
        await onQueue {
            while self.writeNext(evenIfNotReady: true) {}
            let isKnown = self.failure != nil
            _ = self.check()
            self.rescueOnce()
            self.files = nil
            return isKnown ? nil : self.report.map { .unusable(database: self.path, detail: $0) }
        }
    }

    // MARK: Files

    /// Checks whether a file was replaced. Returns the message for the operator; nil if all files are in place.
    func replacementReport() async -> String? {
        await onQueue {
            _ = self.check()
            self.rescueOnce()
            return self.report
        }
    }

    /// Returns the result of `body`, which runs on `queue`.
    private func onQueue<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
    }

    /// Compares the open files with those at the path. If they differ, all waiting writes fail. Returns why nothing is
    /// written anymore; nil while the files are in place.
    private func check() -> StoreError? {
        if let failure { return failure }
        guard let files, let replacement = files.replacement() else { return nil }
        self.replacement = replacement
        let error = StoreError.replaced("\(replacement)")
        let failedWrites = state.withLock { state in
            defer { state.waiting = [] }
            state.failure = error
            return state.waiting
        }
        // This connection is never closed. Closing the last connection would write the log into the file at the path.
        _ = Unmanaged.passRetained(files.connection)
        onFailure(error)
        for write in failedWrites { write.finish(error) }
        // The rescue takes a while, so the waiting writes fail before it begins.
        queue.async { self.rescueOnce() }
        return error
    }

    /// Saves the contents of the open database, if a file was replaced and the contents weren't saved yet.
    private func rescueOnce() {
        guard let replacement, let files, report == nil else { return }
        report = SQLiteRescue(files: files, replacement: replacement).run()
    }

    /// Writes the log into the database's file, and empties the log. Returns false while a reader still needs the log;
    /// see `Database.clearLog`.
    func clearLog() async -> Bool {
        await onQueue {
            if !self.log.isEmpty, self.check() == nil, let connection = self.files?.connection {
                self.log.isEmpty = connection.emptyLog()
                if self.log.isEmpty { self.log.size = 0 }
            }
            return self.log.isEmpty || self.failure != nil || self.files == nil
        }
    }

    // MARK: Groups

    /// Writes groups until none is ready. Each group has a separate block, so that other blocks on the queue run in
    /// between.
    private func drain() {
        if writeNext() { queue.async { self.drain() } }
    }

    /// Writes the next group. Returns false if no group was ready. After true, another group may be ready.
    ///
    /// - Parameter evenIfNotReady: whether to write the waiting writes although another write still gathers the group.
    private func writeNext(evenIfNotReady: Bool = false) -> Bool {
        let group = next(evenIfNotReady)
        guard !group.isEmpty else { return false }
        let errors = write(group)
        let failure = check()
        for (write, error) in zip(group, errors) { write.finish(failure ?? error) }
        if failure == nil, log.size >= Self.checkpointSize {
            // If a reader is in the way, this is tried again after a later commit.
            log.size = 0
            files?.connection.checkpoint()
        }
        return true
    }

    /// Takes the next group from the waiting writes. Returns an empty group if none is ready.
    private func next(_ evenIfNotReady: Bool) -> [PendingWrite] {
        state.withLock { state in
            guard state.isReady || evenIfNotReady, !state.waiting.isEmpty else {
                state.isWriting = false
                return []
            }
            // A maintaining write is a group by itself, because it has other requirements.
            let ordinaryWrites = state.waiting.prefix(Self.maximumGroupSize).prefix { $0.use != .maintaining }
            let group = Array(ordinaryWrites.isEmpty ? state.waiting.prefix(1) : ordinaryWrites)
            state.waiting.removeFirst(group.count)
            state.groupsWritten += 1
            return group
        }
    }

    // MARK: Transactions

    /// Runs a group of writes in one transaction. Returns the error of each write; nil if it succeeded.
    private func write(_ group: [PendingWrite]) -> [StoreError?] {
        if let failure { return group.map { _ in failure } }
        guard let connection = files?.connection else { return group.map { _ in .failed("the database is closed") } }
        do {
            // Almost always all writes succeed. Savepoints cost time, so they are used only in the second attempt.
            try transact(group, on: connection) { () throws(StoreError) in
                for write in group { try write.run(connection) }
            }
            return group.map { _ in nil }
        } catch {
            guard group.count > 1 else { return [error] }
        }
        do {
            return try transact(group, on: connection) { () throws(StoreError) in
                try group.map { write throws(StoreError) in try runInSavepoint(write, on: connection) }
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
            try requirements.check(connection, for: group.first?.use ?? .writing)
            return try body()
        }
    }

    /// Runs one write in a savepoint and returns its error. Throws if the error ended the whole transaction.
    private func runInSavepoint(
        _ write: PendingWrite, on connection: SQLiteConnection
    ) throws(StoreError) -> StoreError? {
        try connection.execute("SAVEPOINT piece")
        var failure: StoreError?
        do {
            try write.run(connection)
        } catch {
            // The rollback may remove rows, so their cached IDs are invalid.
            connection.headers?.forget()
            // A full disk, for example, ends the whole transaction.
            guard connection.isInTransaction else { throw error }
            try connection.execute("ROLLBACK TO piece")
            failure = error
        }
        try connection.execute("RELEASE piece")
        return failure
    }
}
