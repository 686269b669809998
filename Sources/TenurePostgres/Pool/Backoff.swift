/// How long to wait before the next attempt to connect: from 50 ms, doubled each time, to 1 s at most, so that the
/// service is back within seconds of its server; and never the same twice, so that many do not come at once.
struct Backoff {
    private var attempts = 0
    /// When to try again.
    private(set) var next: ContinuousClock.Instant?

    mutating func failed(at now: ContinuousClock.Instant = .now) {
        let longest = min(1.0, 0.05 * Double(1 << min(attempts, 10)))
        attempts += 1
        next = now + .seconds(.random(in: longest / 2...longest))
    }

    func isOver(at now: ContinuousClock.Instant = .now) -> Bool { next.map { $0 <= now } ?? true }
}
