import Foundation

/// How often and for how long a call to the App Store is repeated. Times are in seconds.
struct RetryPolicy: Sendable, Hashable {
    /// The most calls that reach the App Store, including the first.
    var attempts = 6
    /// The longest wait before the second attempt. It doubles with each further attempt.
    var firstWait: TimeInterval = 0.5
    var longestWait: TimeInterval = 30
    /// The longest time from the first attempt to the start of the last.
    var deadline: TimeInterval = 120

    /// Returns the wait after `failures` attempts: a random part of the longest one, so that processes that failed
    /// together don't repeat together.
    func wait(after failures: Int, random: Double) -> TimeInterval {
        let exponent = Double(min(max(failures - 1, 0), 30))
        return min(longestWait, firstWait * pow(2, exponent)) * random
    }
}
