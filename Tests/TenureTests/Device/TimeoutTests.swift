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
