import Foundation

/// How often and for how long a call to the App Store is repeated. Times are in seconds.
struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts, including the first.
    var attempts = 6
    /// The longest wait before the second attempt, in seconds. The longest wait doubles with each further attempt.
    var firstWait: TimeInterval = 0.5
    /// The longest wait before any attempt.
    var maximumWait: TimeInterval = 30
    /// The longest time from the beginning of the first attempt to the beginning of the last attempt.
    var timeout: TimeInterval = 120

    /// Returns the seconds to wait after `failures` failed attempts: a random part of the longest wait, which doubles
    /// with each failure up to `maximumWait`. The wait is random so that processes that failed at the same time don't
    /// all try again at once.
    ///
    /// - Parameter random: A random number from 0 up to 1.
    func wait(after failures: Int, random: Double) -> TimeInterval {
        let exponent = Double(min(max(failures - 1, 0), 30))
        return min(maximumWait, firstWait * pow(2, exponent)) * random
    }
}

/// The clocks and random numbers for requests to the App Store. Tests replace them.
struct AppStoreTime: Sendable {
    /// The current date, for tokens and for dates from the App Store.
    var now: @Sendable () -> Date
    /// The seconds on a clock that can't be set, for deadlines and rates.
    var uptime: @Sendable () -> TimeInterval
    /// Waits for this many seconds. Throws `CancellationError`.
    var sleep: @Sendable (TimeInterval) async throws -> Void
    /// A random number from 0 up to 1, which spreads retries.
    var random: @Sendable () -> Double

    /// The system's clocks and random numbers.
    static let system: AppStoreTime = {
        let start = ContinuousClock.now
        return AppStoreTime(
            now: { Date() },
            uptime: { (ContinuousClock.now - start) / .seconds(1) },
            sleep: { try await Task.sleep(for: .seconds(max(0, $0))) },
            random: { Double.random(in: 0..<1) })
    }()
}
