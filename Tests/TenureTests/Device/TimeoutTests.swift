import Foundation
import Testing

@testable import Tenure

@Suite struct TimeoutTests {
    @Test(.timeLimit(.minutes(1))) func `a call of StoreKit that takes too long is canceled`() async {
        let (canceled, continuation) = AsyncStream<Void>.makeStream()
        await #expect(throws: TimedOut.self) {
            try await withTimeout(0.05) {
                try await withTaskCancellationHandler {
                    try await Task.sleep(nanoseconds: 3_600_000_000_000)
                } onCancel: {
                    continuation.finish()
                }
            }
        }
        for await _ in canceled {}
    }

    @Test func `a call of StoreKit that took too long is reported with its timeout`() {
        #expect(TimedOut(seconds: 8).description == "no response within 8.0 seconds")
    }

    @Test(.timeLimit(.minutes(1))) func `waiting for a task in vain doesn't cancel the task`() async {
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in gate {}
            return !Task.isCancelled
        }
        #expect(await value(of: task, within: 0.01) == nil)
        opener.finish()
        #expect(await task.value)
        #expect(await value(of: task, within: 60) == true)
    }

    @Test(.timeLimit(.minutes(1))) func `a caller that is canceled doesn't wait for the call of StoreKit`() async {
        let waiting = Task {
            try await withTimeout(3600) { try await Task.sleep(nanoseconds: 3_600_000_000_000) }
        }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test(.timeLimit(.minutes(1))) func `a client that waits for a date continues once the clock shows that date`()
        async throws
    {
        let date = Date(timeIntervalSinceNow: 0.3)
        try await Setup(access: FakeStore(), storage: MemoryStateStorage(), policy: nil).waitUntil(date)
        #expect(Date() >= date)
    }

    /// The documentation of the options states these numbers.
    @Test func `a client waits no longer by default than the documentation promises`() {
        let options = Tenure.Options()
        #expect([options.appStoreTimeout, options.serviceTimeout, options.restoreTimeout] == [8, 15, 60])
        #expect(options.expensiveNetworkLimit == 50_000_000)
        let setup = Setup(access: FakeStore(), storage: MemoryStateStorage(), policy: nil)
        #expect([setup.resolvingTimeout, setup.recheckTimeout, setup.purchaseTimeout] == [15, 2, 5])
        #expect([setup.stallTimeout, setup.foregroundWait] == [10, 2])
    }
}
