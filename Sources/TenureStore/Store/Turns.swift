import Foundation

/// Names that one task at a time has; the others wait, in the order in which they came.
package final class Turns: @unchecked Sendable {
    // Sound: `waiting` is touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    /// Who waits for a name that somebody has.
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

    /// Whether nobody has it.
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
