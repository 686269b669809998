import Dispatch

/// The delay before the next attempt to connect: 50 ms, doubled each time, up to 1 s. So the service works again within
/// seconds after the server. Delays are random, so that many clients don't connect at the same time.
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

    /// When to try again; nil if it may be now.
    func pause(at now: DispatchTime = .now()) -> DispatchTime? {
        next.flatMap { $0 > now ? $0 : nil }
    }
}
