import Foundation

/// When a failed delivery is tried again: ever later, for three days.
struct RetrySchedule: Sendable {
    /// Seconds until the second attempt; doubled each time.
    var first: TimeInterval = 10
    var longest: TimeInterval = 6 * 3600
    /// Seconds after which a message is given up.
    var window: TimeInterval = 3 * 86_400

    /// Nil: no more. `attempt` counts from 1. What the receiver asks for (`Retry-After`) counts where it is later,
    /// and not where it lies beyond the days of tries: then it is tried as if nothing was asked.
    func retry(
        after attempt: Int, queuedAt: Date, retryAfter: TimeInterval?, at now: Date,
        jitter: Double = .random(in: 0.75...1.25)
    ) -> Date? {
        let delay = min(first * pow(2, Double(min(attempt, 64) - 1)), longest) * jitter
        let end = queuedAt.addingTimeInterval(window)
        let own = now.addingTimeInterval(delay)
        let asked = now.addingTimeInterval(max(retryAfter ?? 0, delay))
        return [asked, own].first { $0 <= end }
    }

    /// Seconds: a number of them, or a date as in RFC 9110, section 5.6.7.
    static func retryAfter(_ header: String?, at now: Date) -> TimeInterval? {
        guard let text = header?.trimmingCharacters(in: .whitespaces), !text.isEmpty, text.utf8.count < 64 else {
            return nil
        }
        if let seconds = Double(text), text.allSatisfy(\.isNumber) { return seconds }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text).map { max($0.timeIntervalSince(now), 0) }
    }
}
