import Dispatch
import TenureCore

/// Limits the rate of each client's requests with a token bucket: each request takes a token out of the client's
/// bucket, which is refilled at a fixed rate. A client is identified by a hash.
///
/// To limit the memory, there are two generations of buckets. When the young generation is full, it
/// becomes the old generation, and the previous old generation is dropped. A client's bucket is copied to the young
/// generation when the client sends a request, so the buckets of frequent clients are never dropped. After its bucket
/// was dropped, a client starts with a full bucket, like every client after a long pause.
final class TokenBuckets: Sendable {
    private let generations = Locked(Generations())
    private let rate: ServiceConfiguration.Rate
    /// The number of buckets in one generation.
    private let capacity: Int

    private struct Generations {
        var young: [UInt64: Bucket] = [:]
        var old: [UInt64: Bucket] = [:]
    }

    private struct Bucket {
        var tokens: Double
        /// The time of the last request, in nanoseconds of a monotonic clock.
        var instant: UInt64
    }

    /// Creates the buckets; nil for a rate without a limit.
    init?(_ rate: ServiceConfiguration.Rate, capacity: Int = 65_536) {
        guard rate.perSecond > 0 else { return nil }
        // A bucket that holds less than one token would never let a request through.
        self.rate = .init(perSecond: rate.perSecond, burst: max(1, rate.burst))
        self.capacity = capacity
    }

    /// Takes a token out of a client's bucket and returns nil. If the bucket has no token, returns the seconds until
    /// the next token.
    func take(_ client: UInt64, at now: UInt64 = DispatchTime.now().uptimeNanoseconds) -> Double? {
        generations.withLock { generations in
            var bucket =
                generations.young[client] ?? generations.old[client] ?? Bucket(tokens: rate.burst, instant: now)
            let seconds = now > bucket.instant ? Double(now - bucket.instant) / 1e9 : 0
            bucket.tokens = min(rate.burst, bucket.tokens + seconds * rate.perSecond)
            bucket.instant = max(now, bucket.instant)
            let wait = bucket.tokens >= 1 ? nil : (1 - bucket.tokens) / rate.perSecond
            if wait == nil { bucket.tokens -= 1 }
            if generations.young.count >= capacity, generations.young[client] == nil {
                generations.old = generations.young
                generations.young = [:]
            }
            generations.young[client] = bucket
            return wait
        }
    }

    /// The number of stored buckets. A client may have one in each generation.
    var count: Int { generations.withLock { $0.young.count + $0.old.count } }
}
