import Foundation
import TenureCore

/// Keeps the requests to each endpoint below Apple's documented rate, for one app and one process.
///
/// Each endpoint has a token bucket, stored as the time at which it is full again (the generic cell rate algorithm).
/// As many requests as the rate allows in a second may be sent at once, as a burst. Further requests are spaced evenly.
actor RateLimiter {
    private let time: AppStoreTime
    /// The share of Apple's rates to use: 1 is all. Only tests with a local App Store use more.
    private let share: Double
    /// The uptime at which each bucket is full again. A missing bucket is full.
    private var fullAt: [AppStoreEnvironment: [AppStoreEndpoint: TimeInterval]] = [:]

    init(time: AppStoreTime, share: Double = 1) {
        self.time = time
        self.share = share
    }

    /// Takes a token of the endpoint's bucket, and returns the seconds to wait before using the token.
    ///
    /// Throws `throttled` and takes no token if the wait would end after `deadline`, a time on the clock
    /// `AppStoreTime.uptime`.
    func takeToken(
        _ endpoint: AppStoreEndpoint, in environment: AppStoreEnvironment, before deadline: TimeInterval
    ) throws(AppStoreFailure) -> TimeInterval {
        let rate = share * endpoint.rate(in: environment)
        let now = time.uptime()
        let full = max(fullAt[environment]?[endpoint] ?? now, now)
        let unrounded = full - Self.burst(rate) - now
        // Less than a microsecond is a rounding error.
        let wait = unrounded < 1e-6 ? 0 : unrounded
        guard now + wait <= deadline else { throw .throttled(until: time.now().addingTimeInterval(wait)) }
        fullAt[environment, default: [:]][endpoint] = full + 1 / rate
        return wait
    }

    /// Delays all requests to this endpoint by the seconds that the App Store asked for. Afterward, the requests are
    /// spaced evenly, without a burst.
    func hold(_ endpoint: AppStoreEndpoint, in environment: AppStoreEnvironment, for seconds: TimeInterval) {
        let full = time.uptime() + seconds + Self.burst(share * endpoint.rate(in: environment))
        fullAt[environment, default: [:]][endpoint] = max(fullAt[environment]?[endpoint] ?? full, full)
    }

    /// The seconds by which the last request of a burst is ahead of even spacing. A burst has `rate` requests, at least
    /// one.
    private static func burst(_ rate: Double) -> TimeInterval { (max(1, rate) - 1) / rate }
}
