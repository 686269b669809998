/// The delay before the next attempt to connect: at most 50 ms after the first failure, doubled after each further
/// failure, up to 1 s. So the service works within seconds after the server is back. Each delay is a random time
/// between half of this maximum and the maximum, so that many clients don't connect at the same time.
struct Backoff {
    /// How many attempts have failed.
    private var attempts = 0
    /// The time of the next attempt; nil before the first failure.
    private(set) var next: ContinuousClock.Instant?

    /// Records a failed attempt, and chooses the time of the next attempt.
    mutating func failed(at now: ContinuousClock.Instant = .now) {
        let longest = min(1.0, 0.05 * Double(1 << min(attempts, 10)))
        attempts += 1
        next = now + .seconds(.random(in: longest / 2...longest))
    }

    /// Whether the next attempt may begin.
    func isOver(at now: ContinuousClock.Instant = .now) -> Bool { next.map { $0 <= now } ?? true }
}
