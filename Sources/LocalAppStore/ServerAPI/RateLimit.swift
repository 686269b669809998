import Foundation

/// How many requests an app may send to an endpoint (Apple, “Identifying rate limits”). The raw value is the number of
/// requests per second in production; Apple counts by the hour. The sandbox allows a tenth. The requests to all
/// endpoints with the same rate count together.
enum RequestRate: Int, Sendable, Hashable, CaseIterable {
    case perSecond50 = 50
    case perSecond20 = 20
    case perSecond10 = 10
    case perSecond1 = 1

    /// The number of requests per hour.
    var perHour: Int { rawValue * 3600 }
}

/// Counts requests by app and rate, in hours of real time.
actor RateLimit {
    private struct Key: Hashable {
        let bundleID: String
        let rate: RequestRate
    }

    /// The share of Apple's limits in production that is allowed.
    private let share: Double
    /// The number of requests in the current hour.
    private var counts: [Key: Int] = [:]
    /// The current hour: the number of hours since 1970.
    private var hour = 0

    init(share: Double) { self.share = share }

    /// Counts a request. Returns nil if the request may be answered; otherwise the end of the hour, until which further
    /// requests with this rate are rejected.
    func countRequest(_ rate: RequestRate, of bundleID: String, at now: Date) -> Date? {
        let hour = Int(now.timeIntervalSince1970 / 3600)
        if hour != self.hour {
            self.hour = hour
            counts = [:]
        }
        let key = Key(bundleID: bundleID, rate: rate)
        let count = counts[key, default: 0] + 1
        guard Double(count) <= Double(rate.perHour) * share else {
            return Date(timeIntervalSince1970: Double(hour + 1) * 3600)
        }
        counts[key] = count
        return nil
    }
}
