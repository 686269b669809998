import Foundation

/// A value behind a lock. `Mutex` came with iOS 18, and the client runs on iOS 16.
package final class Locked<Value>: @unchecked Sendable {
    // Sendable: only `withLock` touches `value`, and the lock admits one thread at a time. Values that go in and come
    // out are sendable, so nothing inside is shared with code outside.
    private let lock = NSLock()
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
    }

    package func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
