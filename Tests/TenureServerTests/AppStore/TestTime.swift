import Foundation
import TenureCore

@testable import TenureServer

/// A clock that advances by each sleep at once, so that no test waits.
final class TestTime: Sendable {
    private struct State: Sendable {
        var elapsed: TimeInterval = 0
        /// By how much the system's calendar clock was changed.
        var shift: TimeInterval = 0
        var sleeps: [TimeInterval] = []
    }

    private let state = Locked(State())
    private let random: Double
    private let begin: Date

    init(begin: Date = Calculator.now, random: Double = 0.5) {
        self.begin = begin
        self.random = random
    }

    var now: Date { state.withLock { begin.addingTimeInterval($0.elapsed + $0.shift) } }
    var uptime: TimeInterval { state.withLock(\.elapsed) }
    /// The sleeps, in the order in which they began.
    var sleeps: [TimeInterval] { state.withLock(\.sleeps) }

    func advance(by seconds: TimeInterval) { state.withLock { $0.elapsed += seconds } }
    func set(calendarBy seconds: TimeInterval) { state.withLock { $0.shift += seconds } }

    var time: AppStoreTime {
        AppStoreTime(
            now: { self.now }, uptime: { self.uptime },
            sleep: { seconds in
                try Task.checkCancellation()
                self.state.withLock { state in
                    state.sleeps.append(seconds)
                    state.elapsed += seconds
                }
                await Task.yield()
            },
            random: { self.random })
    }
}

/// A gate that opens once. Tasks wait until it is open, or until they are canceled.
final class Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func open() { continuation.finish() }

    func wait() async { for await _ in stream {} }
}
