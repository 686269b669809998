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

    /// Returns the seconds to wait after `failures` failed attempts: a random part of the longest wait, so that
    /// processes that failed at the same time don't all try again at once.
    ///
    /// - Parameter random: A random number from 0 up to 1.
    func wait(after failures: Int, random: Double) -> TimeInterval {
        // More than 30 doublings make no difference, because of `maximumWait`.
        let exponent = Double(min(max(failures - 1, 0), 30))
        return min(maximumWait, firstWait * pow(2, exponent)) * random
    }
}
