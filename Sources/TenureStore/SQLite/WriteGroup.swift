import Foundation
import GRDB

/// Acts that wait for the one connection that writes: all that came meanwhile share a transaction, and its flush.
///
/// Each act is a savepoint in it: one that throws leaves the others whole. None returns before the flush.
final class WriteGroup: @unchecked Sendable {
    // Sound: both variables are touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var waiting: [Act] = []
    private var written = 0

    /// How many transactions were flushed.
    var groupsWritten: Int {
        lock.lock()
        defer { lock.unlock() }
        return written
    }

    /// One act. `run` keeps its own result; `finish` says that it is flushed, or why it did not happen.
    struct Act: Sendable {
        let run: @Sendable (Database) throws -> Void
        let finish: @Sendable ((any Error)?) -> Void
    }

    /// So that one flush never takes so long that readers of the log fall behind.
    private static let largest = 256

    func submit(_ act: Act, to pool: DatabasePool) {
        lock.lock()
        waiting.append(act)
        lock.unlock()
        // One drain for each act: those that find nothing waiting are over at once.
        pool.asyncWriteWithoutTransaction { db in self.drain(db) }
    }

    private func next() -> [Act] {
        lock.lock()
        defer { lock.unlock() }
        let group = Array(waiting.prefix(Self.largest))
        waiting.removeFirst(group.count)
        if !group.isEmpty { written += 1 }
        return group
    }

    private func drain(_ db: Database) {
        let group = next()
        guard !group.isEmpty else { return }
        var errors: [(any Error)?] = Array(repeating: nil, count: group.count)
        do {
            try db.inTransaction(.immediate) {
                for (index, act) in group.enumerated() {
                    do {
                        try db.inSavepoint {
                            try act.run(db)
                            return .commit
                        }
                    } catch {
                        // What ended the whole transaction (a full disk, for one) ended every act of it.
                        guard db.isInsideTransaction else { throw error }
                        errors[index] = error
                    }
                }
                return .commit
            }
        } catch {
            for act in group { act.finish(error) }
            return
        }
        for (act, error) in zip(group, errors) { act.finish(error) }
    }
}
