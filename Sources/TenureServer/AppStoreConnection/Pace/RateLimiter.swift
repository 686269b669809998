import Foundation
import TenureCore

/// Keeps each endpoint's calls below the rate that Apple documents, for one app and one process.
///
/// A bucket of tokens, kept as the one instant at which it would be full again (the generic cell rate algorithm): a
/// second's worth of calls may go at once, the rest evenly.
actor RateLimiter {
    private struct Key: Hashable {
        let endpoint: AppStoreEndpoint
        let environment: AppStoreEnvironment
    }

    private let time: AppStoreTime
    /// Of Apple's rates; more than 1 only against another App Store than Apple's.
    private let share: Double
    /// By the uptime; a bucket that is missing is full.
    private var fullAt: [Key: TimeInterval] = [:]

    init(time: AppStoreTime, share: Double = 1) {
        self.time = time
        self.share = share
    }

    /// Takes a token, and says how many seconds to wait before using it.
    ///
    /// Throws `held`, and takes none, where that would be after `deadline` (by the uptime).
    func take(
        _ endpoint: AppStoreEndpoint, in environment: AppStoreEnvironment, before deadline: TimeInterval
    ) throws(AppStoreFailure) -> TimeInterval {
        let key = Key(endpoint: endpoint, environment: environment)
        let rate = share * endpoint.rate(in: environment)
        let now = time.uptime()
        let full = max(fullAt[key] ?? now, now)
        let exact = full - Self.slack(rate) - now
        // What is left of rounding is no wait.
        let wait = exact < 1e-6 ? 0 : exact
        guard now + wait <= deadline else { throw .held(until: time.now().addingTimeInterval(wait)) }
        fullAt[key] = full + 1 / rate
        return wait
    }

    /// Lets no call of this endpoint go for so many seconds, because the App Store said so. Afterwards they go one by
    /// one, and not all that waited at once.
    func hold(_ endpoint: AppStoreEndpoint, in environment: AppStoreEnvironment, for seconds: TimeInterval) {
        let key = Key(endpoint: endpoint, environment: environment)
        let full = time.uptime() + seconds + Self.slack(share * endpoint.rate(in: environment))
        fullAt[key] = max(fullAt[key] ?? full, full)
    }

    /// How far ahead of an even pace calls may run.
    private static func slack(_ rate: Double) -> TimeInterval { (max(1, rate) - 1) / rate }
}
