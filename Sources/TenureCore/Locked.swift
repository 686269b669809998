package import Foundation

/// A value behind a lock. `Mutex` needs iOS 18, and the client supports iOS 16.
package final class Locked<Value>: @unchecked Sendable {
    // `@unchecked Sendable` is sound: only `withLock` uses `value`, and `lock` admits one thread at a time. Arguments
    // and results are sendable, so no outside code shares the value.
    @usableFromInline let lock = NSLock()
    @usableFromInline var value: Value

    @inlinable package init(_ value: sending Value) { self.value = value }

    /// Calls `body` while no other thread uses the value. `body` must not use this lock again.
    @inlinable package func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

extension Locked where Value: Sendable {
    /// Stores a value, and returns the previous value.
    package func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}
