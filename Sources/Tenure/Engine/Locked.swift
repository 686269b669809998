import Foundation

/// A value behind a lock. `Mutex` came with iOS 18, and the client runs on iOS 16.
final class Locked<Value>: @unchecked Sendable {
    // Sendable: `value` is touched inside `withLock` alone, and the lock lets one thread in at a time. What goes in and
    // what comes out is sendable, so that nothing inside is shared with anybody outside.
    private let lock = NSLock()
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
    }

    func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
