import Foundation
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `the rate of requests to the App Store Server API` {
    private func waits(_ count: Int, _ limiter: RateLimiter, _ environment: AppStoreEnvironment) async throws
        -> [TimeInterval]
    {
        var waits: [TimeInterval] = []
        for _ in 0..<count {
            waits.append(try await limiter.takeToken(.transactionHistory, in: environment, before: .infinity))
        }
        return waits
    }

    @Test func `the App Store client sends 50 requests at once, and then a request every 20 milliseconds`() async throws
    {
        let limiter = RateLimiter(time: TestTime().time)
        let waits = try await waits(53, limiter, .production)
        #expect(waits.prefix(50).allSatisfy { $0 == 0 })
        #expect(zip(waits.suffix(3), [0.02, 0.04, 0.06]).allSatisfy { abs($0 - $1) < 1e-9 })
    }

    @Test func `the sandbox allows a tenth of production's rate of App Store Server API requests`() async throws {
        let limiter = RateLimiter(time: TestTime().time)
        let waits = try await waits(7, limiter, .sandbox)
        #expect(waits.prefix(5).allSatisfy { $0 == 0 })
        #expect(zip(waits.suffix(2), [0.2, 0.4]).allSatisfy { abs($0 - $1) < 1e-9 })
        #expect(try await limiter.takeToken(.requestTestNotification, in: .sandbox, before: .infinity) == 0)
        #expect(try await limiter.takeToken(.requestTestNotification, in: .sandbox, before: .infinity) == 10)
    }

    @Test func `a share of Apple's rates reduces the requests at once, and the rate after them`() async throws {
        let limiter = RateLimiter(time: TestTime().time, share: 0.5)
        let waits = try await waits(27, limiter, .production)
        #expect(waits.prefix(25).allSatisfy { $0 == 0 })
        #expect(zip(waits.suffix(2), [0.04, 0.08]).allSatisfy { abs($0 - $1) < 1e-9 })
    }

    @Test func `App Store requests have a separate rate for each endpoint and environment`() async throws {
        let limiter = RateLimiter(time: TestTime().time)
        _ = try await waits(50, limiter, .production)
        #expect(try await limiter.takeToken(.transactionHistory, in: .production, before: .infinity) > 0)
        #expect(try await limiter.takeToken(.transactionHistory, in: .sandbox, before: .infinity) == 0)
        #expect(try await limiter.takeToken(.subscriptionStatuses, in: .production, before: .infinity) == 0)
    }

    @Test func `the full rate of App Store Server API requests is available again after a second`() async throws {
        let time = TestTime()
        let limiter = RateLimiter(time: time.time)
        _ = try await waits(50, limiter, .production)
        time.advance(by: 1)
        #expect(try await waits(50, limiter, .production).allSatisfy { $0 == 0 })
    }

    @Test func `the App Store client pauses as Retry-After says, then sends one request at a time`() async throws {
        let limiter = RateLimiter(time: TestTime().time)
        await limiter.hold(.transactionHistory, in: .production, for: 30)
        let waits = try await waits(3, limiter, .production)
        #expect(zip(waits, [30, 30.02, 30.04]).allSatisfy { abs($0 - $1) < 1e-9 })
    }

    @Test func `an App Store request fails at once if its turn comes after its deadline`() async throws {
        let time = TestTime()
        let limiter = RateLimiter(time: time.time)
        await limiter.hold(.transactionHistory, in: .production, for: 30)
        await #expect(throws: AppStoreFailure.throttled(until: Calculator.now.addingTimeInterval(30))) {
            try await limiter.takeToken(.transactionHistory, in: .production, before: 29)
        }
        // A refused request doesn't count against the rate.
        #expect(try await limiter.takeToken(.transactionHistory, in: .production, before: 30) == 30)
    }

    @Test func `waits between App Store retries double up to a limit, with jitter`() {
        let retryPolicy = RetryPolicy()
        #expect((1...9).map { retryPolicy.wait(after: $0, random: 1) } == [0.5, 1, 2, 4, 8, 16, 30, 30, 30])
        #expect(retryPolicy.wait(after: 3, random: 0) == 0)
        #expect(retryPolicy.wait(after: 3, random: 0.25) == 0.5)
        #expect(retryPolicy.wait(after: .max, random: 1) == 30)
    }

    @Test func `a failed App Store job waits between a minute and six hours, and ends if a retry can't help`() {
        let schedule = JobSchedule()
        let now = Calculator.now
        func wait(_ failure: AppStoreFailure, _ tries: Int) -> TimeInterval? {
            schedule.nextTry(after: failure, tries: tries, now: now, random: 1)?.timeIntervalSince(now)
        }
        #expect([1, 2, 3, 20].map { wait(.timedOut(30), $0) } == [60, 120, 240, 6 * 3600])
        #expect(wait(.invalidID, 1) == nil)
        #expect(schedule.nextTry(after: StoreError.busy, tries: 1, now: now, random: 1) == now.addingTimeInterval(60))
        #expect(wait(.unreadable("no JSON"), 11) != nil)
        #expect(wait(.unreadable("no JSON"), 12) == nil)
        // A rejected key is tried again however often it failed, because an operator may have corrected it.
        #expect(wait(.notAuthorized(.production), 100) != nil)
        let refusal = AppStoreRefusal(
            endpoint: .transactionHistory, environment: .production, status: 429, code: .rateLimitExceeded,
            retryAt: now.addingTimeInterval(3000))
        #expect(wait(.refused(refusal), 1) == 3000)
        #expect(
            schedule.nextTry(after: AppStoreFailure.timedOut(30), tries: 1, now: now, random: 0)
                == now.addingTimeInterval(30))
    }
}
