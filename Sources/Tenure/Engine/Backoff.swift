/// Computes how long to wait before the next attempt: the wait doubles with each failure. A part of the wait is random,
/// so that not all devices retry at the same time.
struct Backoff: Sendable, Hashable {
    private(set) var failures = 0

    /// The full wait after the first failure, in seconds.
    static let first: Double = 2
    /// The maximum of the full wait, in seconds.
    static let longest: Double = 3600

    mutating func fail() { failures += 1 }
    mutating func succeed() { failures = 0 }

    /// Returns the wait in seconds, between half of the full wait and the full wait. `chance` is in 0..<1.
    func wait(chance: Double) -> Double {
        guard failures > 0 else { return 0 }
        var full = Self.first
        for _ in 0..<(min(failures, 20) - 1) where full < Self.longest { full *= 2 }
        return min(full, Self.longest) * (0.5 + chance / 2)
    }
}
