import TenureCore

/// Locks with names, for the tasks of one process. One task at a time holds a name. Other tasks wait for the name, and
/// get it in the order in which they asked for it.
final class NamedLocks: Sendable {
    /// The lock for writing a piece of a large operation. One piece is written at a time, so that other updates wait
    /// for one piece at most.
    static let pieces = "pieces"
    /// The lock for reading the customers that thousands of identities name. One large update reads at a time, so that
    /// other readers find a free connection.
    static let reading = "reading"

    /// For each name that a task holds: the tasks that wait for it, in order.
    private let waiting = Locked<[String: [CheckedContinuation<Void, Never>]]>([:])

    /// Waits for the name, and runs `body` while this task holds it.
    func withLock<Value>(
        _ name: String, _ body: () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                if waiting[name] != nil {
                    waiting[name]?.append(continuation)
                    return false
                }
                waiting[name] = []
                return true
            }
            if isFree { continuation.resume() }
        }
        defer { release(name) }
        return try await body()
    }

    /// Passes the name to the task that has waited longest, or releases the name if no task waits.
    private func release(_ name: String) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            if waiting[name]?.isEmpty == false { return waiting[name]?.removeFirst() }
            waiting[name] = nil
            return nil
        }
        next?.resume()
    }
}
