/// When something that failed is tried again: soon at first, then less and less often, with a random share, so that
/// devices don't all ask at the same moment.
struct Backoff: Sendable, Hashable {
    private(set) var failures = 0

    static let first: Double = 2
    static let longest: Double = 3600

    mutating func fail() { failures += 1 }
    mutating func succeed() { failures = 0 }

    /// Seconds, from half of the full time to all of it. `chance` in 0..<1.
    func wait(chance: Double) -> Double {
        guard failures > 0 else { return 0 }
        var full = Self.first
        for _ in 0..<(min(failures, 20) - 1) where full < Self.longest { full *= 2 }
        return min(full, Self.longest) * (0.5 + chance / 2)
    }
}
