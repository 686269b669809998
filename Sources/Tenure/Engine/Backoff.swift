/// Computes how long to wait before the next attempt: the wait doubles with each failure. A part of the wait is random,
/// so that not all devices retry at the same time.
struct Backoff: Sendable, Hashable {
    /// The number of failures since the last success.
    private(set) var failures = 0

    /// The full wait after the first failure, in seconds.
    static let first: Double = 2
    /// The maximum of the full wait, in seconds.
    static let longest: Double = 3600

    mutating func fail() { failures += 1 }
    mutating func succeed() { failures = 0 }

    /// Returns the wait in seconds, between half of the full wait and the full wait; 0 if the last attempt succeeded.
    ///
    /// - Parameter chance: a random number in 0..<1.
    func wait(chance: Double) -> Double {
        guard failures > 0 else { return 0 }
        // The limit of 20 failures only keeps the number in the range of `Int`.
        let full = min(Self.first * Double(1 << (min(failures, 20) - 1)), Self.longest)
        return full * (0.5 + chance / 2)
    }
}
