import Foundation

@testable import TenureServer

/// A clock that moves by sleeping, so that no test waits.
///
/// `@unchecked`: all that changes is read and written under the lock.
final class TestTime: @unchecked Sendable {
    private let lock = NSLock()
    private var elapsed: TimeInterval = 0
    /// By how much somebody set the calendar.
    private var shift: TimeInterval = 0
    private var waits: [TimeInterval] = []
    private let random: Double
    private let begin: Date

    init(begin: Date = Calculator.now, random: Double = 0.5) {
        self.begin = begin
        self.random = random
    }

    var now: Date { lock.withLock { begin.addingTimeInterval(elapsed + shift) } }
    var uptime: TimeInterval { lock.withLock { elapsed } }
    /// In the order in which they began.
    var sleeps: [TimeInterval] { lock.withLock { waits } }

    func advance(by seconds: TimeInterval) { lock.withLock { elapsed += seconds } }
    func set(calendarBy seconds: TimeInterval) { lock.withLock { shift += seconds } }

    var time: AppStoreTime {
        AppStoreTime(
            now: { self.now }, uptime: { self.uptime },
            sleep: { seconds in
                try Task.checkCancellation()
                self.lock.withLock {
                    self.waits.append(seconds)
                    self.elapsed += seconds
                }
                await Task.yield()
            },
            random: { self.random })
    }
}

/// Opens once; who comes before waits, who comes later does not. Waiting ends with the task.
final class Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func open() { continuation.finish() }

    func wait() async { for await _ in stream {} }
}
