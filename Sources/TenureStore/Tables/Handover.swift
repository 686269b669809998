import Foundation

/// Passes values from one thread to another. For example, one thread's transaction reads rows, and the other thread's
/// transaction writes them. Only a few values are in memory at once.
///
/// `receive` waits for a value, and `send` waits while too many values are waiting. If one thread calls `fail`, both
/// threads throw that error.
final class Handover<Value: Sendable>: @unchecked Sendable {
    // `Locked` can't wait until another thread changes the value. All variables are used between `condition.lock()` and
    // `condition.unlock()` only.
    private let condition = NSCondition()
    /// The values that were sent and not received yet.
    private var waiting: [Value] = []
    /// The error of the first call of `fail`.
    private var failure: StoreError?

    /// The maximum number of waiting values.
    private static var maximum: Int { 4 }

    /// Passes a value to the other thread. Waits while the maximum number of values wait for that thread.
    func send(_ value: Value) throws(StoreError) {
        condition.lock()
        defer { condition.unlock() }
        while waiting.count >= Self.maximum, failure == nil { condition.wait() }
        if let failure { throw failure }
        waiting.append(value)
        condition.broadcast()
    }

    /// Waits for the next value and returns it.
    func receive() throws(StoreError) -> Value {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty, failure == nil { condition.wait() }
        if let failure { throw failure }
        condition.broadcast()
        return waiting.removeFirst()
    }

    /// Makes both threads throw an error. Returns the error that they throw, which is the error of the first call.
    @discardableResult func fail(_ error: StoreError) -> StoreError {
        condition.lock()
        defer { condition.unlock() }
        let first = failure ?? error
        failure = first
        condition.broadcast()
        return first
    }
}
