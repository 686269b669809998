import Foundation

/// Locks with names. One task at a time holds a name; the others wait and get it in order.
package final class Turns: @unchecked Sendable {
    // Sound: `waiting` is touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    /// The tasks that wait for each name that is held.
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

    package init() {}

    func take<Value>(
        _ name: String, _ body: () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        await withCheckedContinuation { continuation in
            if enter(name, continuation) { continuation.resume() }
        }
        defer { leave(name) }
        return try await body()
    }

    /// Takes the name if no task holds it and returns true; otherwise queues the continuation.
    private func enter(_ name: String, _ continuation: CheckedContinuation<Void, Never>) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard waiting[name] != nil else {
            waiting[name] = []
            return true
        }
        waiting[name]?.append(continuation)
        return false
    }

    private func leave(_ name: String) {
        lock.lock()
        var next: CheckedContinuation<Void, Never>?
        if waiting[name]?.isEmpty == false {
            next = waiting[name]?.removeFirst()
        } else {
            waiting[name] = nil
        }
        lock.unlock()
        next?.resume()
    }
}
