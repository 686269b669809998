import Foundation
import TenureCore
import Testing

@testable import Tenure

/// Streams of customers and of asset packs' states, if tasks that wait for them are canceled while values change.
///
/// A yield takes the lock of the waiting task, and the thread that cancels this task holds the same lock while it runs
/// cancellation handlers. A yield under another lock, which such a handler needs too, stops both threads forever.
@Suite(.timeLimit(.minutes(5))) struct `Watchers that stop during a change` {
    /// Cancels tasks that wait for streams, while another thread changes the value.
    private func race<Value: Sendable>(
        watch: @escaping @Sendable () -> AsyncStream<Value>, change: @escaping @Sendable (Int) -> Void
    ) async {
        let isOver = Locked(false)
        let changing = Task.detached {
            var count = 0
            while !isOver.withLock({ $0 }) {
                count += 1
                change(count)
                if count % 64 == 0 { await Task.yield() }
            }
        }
        for _ in 1...3_000 {
            let watcher = Task.detached { for await _ in watch() {} }
            for _ in 1...3 { await Task.yield() }
            watcher.cancel()
        }
        isOver.withLock { $0 = true }
        await changing.value
    }

    /// Returns the last value that a watcher which doesn't stop gets.
    private static func last<Value: Sendable>(of stream: AsyncStream<Value>) -> Task<Value?, Never> {
        Task.detached {
            var last: Value?
            for await value in stream { last = value }
            return last
        }
    }

    @Test func `changes of a customer are delivered even if a watcher stops during a change`() async {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let state = CustomerState(.init(customer: Tenure.Customer(answers: [:]), floor: now), clock: { now }) { _ in
            throw CancellationError()
        }
        let id = UUID()
        let watcher = Self.last(of: state.watch())
        await race(watch: { state.watch() }) { count in
            if count.isMultiple(of: 2) {
                state.endSession(of: "pro", id)
            } else {
                state.beginSession(of: "pro", id, until: now.addingTimeInterval(100))
            }
        }
        let customer = state.customer
        state.close()
        #expect(await watcher.value == customer)
    }

    @Test func `changes of an asset pack are delivered even if a watcher stops during a change`() async {
        let states = ContentStates()
        let watcher = Self.last(of: states.watch("piano"))
        await race(watch: { states.watch("piano") }) { count in
            states.post(count.isMultiple(of: 2) ? .paused : .available(size: 1), of: "piano")
        }
        let state = states.state(of: "piano")
        states.close()
        #expect(await watcher.value == state)
    }

    @Test func `watchers that stop during a change don't keep another watcher from getting every value in order`()
        async throws
    {
        let watchers = Watchers<Int>()
        let last = Locked(0)
        let stream = watchers.add(first: 0, bufferSize: 10_000)
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...4 {
                group.addTask {
                    for _ in 1...1_000 {
                        last.withLock { last in
                            last += 1
                            watchers.send(last)
                        }
                        watchers.deliver()
                    }
                }
            }
            group.addTask {
                for _ in 1...1_000 {
                    let stopping = Task.detached { for await _ in watchers.add(first: 0, bufferSize: 1) {} }
                    await Task.yield()
                    stopping.cancel()
                }
            }
        }
        watchers.close()
        watchers.deliver()
        var received: [Int] = []
        for await value in stream { received.append(value) }
        #expect(received == Array(0...4_000))
        var afterEnd: [Int] = []
        for await value in watchers.add(first: 7, bufferSize: 1) { afterEnd.append(value) }
        #expect(afterEnd == [7])
    }
}
