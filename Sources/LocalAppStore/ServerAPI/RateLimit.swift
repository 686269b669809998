import Foundation

/// Groups of endpoints with the same rate limit (Apple, “Identifying rate limits”). The raw value is the number of
/// requests per second in production; Apple counts by the hour. The sandbox allows a tenth.
enum RequestClass: Int, Sendable, Hashable, CaseIterable {
    case reading = 50
    case changing = 20
    case lookingBack = 10
    case rare = 1

    /// The number of requests per hour.
    var perHour: Int { rawValue * 3600 }
}

/// Counts requests by app and kind, in hours of real time.
actor RateLimit {
    private struct Key: Hashable {
        let bundleID: String
        let kind: RequestClass
    }

    private let share: Double
    private var counts: [Key: Int] = [:]
    /// The hour since 1970 in which `counts` were counted.
    private var hour = 0

    /// - Parameter share: the share of Apple's limits in production that is allowed.
    init(share: Double) {
        self.share = share
    }

    /// Counts a request. Returns nil if the request may be answered; otherwise the end of the hour, until which further
    /// requests of this class are rejected.
    func countRequest(_ kind: RequestClass, of bundleID: String, at now: Date) -> Date? {
        let hour = Int(now.timeIntervalSince1970 / 3600)
        if hour != self.hour {
            self.hour = hour
            counts = [:]
        }
        let key = Key(bundleID: bundleID, kind: kind)
        let count = counts[key, default: 0] + 1
        guard Double(count) <= Double(kind.perHour) * share else {
            return Date(timeIntervalSince1970: Double(hour + 1) * 3600)
        }
        counts[key] = count
        return nil
    }
}
