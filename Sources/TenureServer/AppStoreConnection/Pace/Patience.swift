import Foundation

/// How long one call is tried. All in seconds.
struct Patience: Sendable, Hashable {
    /// Calls that reach the App Store, the first one too.
    var attempts = 6
    /// The longest wait before the second attempt; it doubles with each.
    var firstWait: TimeInterval = 0.5
    var longestWait: TimeInterval = 30
    /// From the beginning to the beginning of the last attempt.
    var deadline: TimeInterval = 120

    /// Before the next attempt, after `failures` of them: anywhere between nothing and the longest, so that those who
    /// failed together do not come back together.
    func wait(after failures: Int, random: Double) -> TimeInterval {
        let exponent = Double(min(max(failures - 1, 0), 30))
        return min(longestWait, firstWait * pow(2, exponent)) * random
    }
}
