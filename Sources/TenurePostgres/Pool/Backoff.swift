import Dispatch

/// How long to wait before the next attempt to connect: from 50 ms, doubled each time, to 1 s at most, so that the
/// service is back within seconds of its server; and never the same twice, so that many do not come at once.
struct Backoff {
    private var attempts = 0
    private var next: DispatchTime?

    mutating func failed(at now: DispatchTime = .now()) {
        let longest = min(1.0, 0.05 * Double(1 << min(attempts, 10)))
        attempts += 1
        next = now + .random(in: longest / 2...longest)
    }

    mutating func succeeded() {
        self = Backoff()
    }

    /// When to try again; nil where nothing speaks against trying now.
    func pause(at now: DispatchTime = .now()) -> DispatchTime? {
        next.flatMap { $0 > now ? $0 : nil }
    }
}
