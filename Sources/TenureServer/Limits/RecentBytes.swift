/// Counts the bytes that were transferred in a period up to now, the window, to calculate the rate of the transfer.
///
/// Time is divided into tenths of the window. A rate includes the bytes of the present tenth and of the ten tenths
/// before it. So after the first window, it covers at least a window.
struct RecentBytes: Sendable {
    private static let parts: UInt64 = 10

    /// The bytes in each tenth of the window: a ring of `parts + 1` counts. The other elements of the vector are
    /// unused.
    private var counts = SIMD16<UInt32>()
    /// The number of the present tenth, counted from 0 at `start`.
    private var latest: UInt64 = 0
    /// The time at which counting began, in nanoseconds of a monotonic clock.
    let start: UInt64
    /// The length of a tenth in nanoseconds.
    private let part: UInt64

    /// - Parameters:
    ///   - seconds: The length of the window, in seconds.
    ///   - now: The time on a monotonic clock in nanoseconds, as in all methods.
    init(window seconds: Int, at now: UInt64) {
        start = now
        part = UInt64(max(1, seconds)) * 1_000_000_000 / Self.parts
    }

    /// Counts bytes that were transferred now.
    mutating func add(_ count: Int, at now: UInt64) {
        advance(to: now)
        let index = Int(latest % (Self.parts + 1))
        counts[index] = UInt32(clamping: Int(counts[index]) + count)
    }

    /// The bytes that were transferred within the window.
    mutating func total(at now: UInt64) -> Int {
        advance(to: now)
        return (0..<Int(Self.parts + 1)).reduce(0) { $0 + Int(counts[$1]) }
    }

    /// The rate in bytes per second. During the first second, it is calculated as if a second had passed.
    mutating func rate(at now: UInt64) -> Double {
        let total = total(at: now)
        let begin = latest > Self.parts ? start + (latest - Self.parts) * part : start
        return Double(total) / max(1, Double(max(begin, now) - begin) / 1e9)
    }

    /// The nanoseconds since the start.
    func age(at now: UInt64) -> UInt64 { now > start ? now - start : 0 }

    /// Forgets the tenths that aren't in the window anymore.
    private mutating func advance(to now: UInt64) {
        let current = age(at: now) / part
        guard current > latest else { return }
        for offset in 1...min(current - latest, Self.parts + 1) {
            counts[Int((latest + offset) % (Self.parts + 1))] = 0
        }
        latest = current
    }
}
