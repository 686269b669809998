import Foundation

/// A clock that changes only when a test sets it.
final class TestClock: @unchecked Sendable {
    // Sound: `instant` is touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var instant: Date

    init(_ instant: Date = Calculator.now) {
        self.instant = instant
    }

    var now: Date {
        lock.lock()
        defer { lock.unlock() }
        return instant
    }

    func advance(by seconds: TimeInterval) {
        lock.lock()
        instant += seconds
        lock.unlock()
    }
}
