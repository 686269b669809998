import Dispatch
import Foundation

/// How often each client asked lately: a bucket of tokens for each, in bounded memory.
///
/// A client is a number that says nothing of it. Buckets lie in two generations: when the young one is full it becomes
/// the old one, and the old one is forgotten. Whoever asks moves to the young one, so that those who ask often are
/// never forgotten; who is forgotten starts with a full bucket, as everybody does who was silent for long enough.
final class TokenBuckets: @unchecked Sendable {
    // Sound: all mutable state is `young` and `old`, and every use of it stands between `lock.lock()` and
    // `lock.unlock()`.
    private let lock = NSLock()
    private var young: [UInt64: Bucket] = [:]
    private var old: [UInt64: Bucket] = [:]
    private let rate: ServiceConfiguration.Rate
    /// Buckets in one generation.
    private let capacity: Int

    private struct Bucket {
        var tokens: Double
        /// Nanoseconds of a clock that is never set.
        var instant: UInt64
    }

    init(_ rate: ServiceConfiguration.Rate, capacity: Int = 65_536) {
        self.rate = rate
        self.capacity = capacity
    }

    /// Takes one token; else the seconds until there is one.
    func take(_ client: UInt64, at now: UInt64 = DispatchTime.now().uptimeNanoseconds) -> Double? {
        lock.lock()
        defer { lock.unlock() }
        var bucket = young[client] ?? old[client] ?? Bucket(tokens: rate.burst, instant: now)
        let passed = now > bucket.instant ? Double(now - bucket.instant) / 1e9 : 0
        bucket.tokens = min(rate.burst, bucket.tokens + passed * rate.perSecond)
        bucket.instant = max(now, bucket.instant)
        let wait: Double?
        if bucket.tokens >= 1 {
            bucket.tokens -= 1
            wait = nil
        } else {
            wait = (1 - bucket.tokens) / rate.perSecond
        }
        if young.count >= capacity, young[client] == nil {
            old = young
            young = [:]
        }
        young[client] = bucket
        return wait
    }

    /// How many clients are remembered.
    var count: Int {
        lock.lock()
        defer { lock.unlock() }
        return young.count + old.count
    }
}
