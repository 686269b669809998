import Foundation
import TenureCore

/// A clock that changes only when a test sets it.
final class TestClock: Sendable {
    private let instant: Locked<Date>

    init(_ instant: Date = Calculator.now) {
        self.instant = Locked(instant)
    }

    var now: Date { instant.withLock { $0 } }

    func advance(by seconds: TimeInterval) { instant.withLock { $0 += seconds } }
}
