/// How fast bytes arrive, smoothed over some seconds.
struct TransferRate: Sendable {
    private var last: (instant: SuspendingClock.Instant, bytes: Int64)?
    private(set) var bytesPerSecond: Double?

    /// Records the number of bytes that have arrived so far. Ignores a call less than half a second after the last
    /// recorded number.
    mutating func note(_ bytes: Int64) {
        let now = SuspendingClock.now
        guard let last else {
            self.last = (now, bytes)
            return
        }
        let seconds = (now - last.instant) / Duration.seconds(1)
        guard seconds >= 0.5 else { return }
        let rate = Double(max(0, bytes - last.bytes)) / seconds
        // The more time has passed since the last recorded number, the greater is the weight of the new rate. After
        // five seconds, only the new rate is used.
        let weight = min(1, seconds / 5)
        bytesPerSecond = bytesPerSecond.map { $0 * (1 - weight) + rate * weight } ?? rate
        self.last = (now, bytes)
    }
}
