import Foundation

/// The schedule for retries of failed webhook deliveries. By default, the delays increase, and a message is abandoned
/// after three days.
struct RetrySchedule: Sendable {
    /// The seconds between the first and the second attempt. Each further delay is twice as long as the delay before.
    var firstDelay: TimeInterval = 10
    /// The longest delay, in seconds.
    var maximumDelay: TimeInterval = 6 * 3600
    /// The seconds after which a message is abandoned, counted from the time at which it was queued.
    var window: TimeInterval = 3 * 86_400

    /// Returns when to try again after an attempt, counted from 1; nil if the message is abandoned.
    ///
    /// If the receiver's `Retry-After` is later than the time in the schedule, the attempt follows at the later time,
    /// unless `window` has ended then. If it has, the attempt follows at the time in the schedule.
    ///
    /// - Parameters:
    ///   - queuedAt: The time at which the message was queued; `window` begins then.
    ///   - retryAfter: The seconds in the receiver's `Retry-After`; nil if the response has none.
    ///   - jitter: A random factor, so that messages that failed together aren't tried again together.
    func retry(
        after attempt: Int, queuedAt: Date, retryAfter: TimeInterval?, at now: Date,
        jitter: Double = .random(in: 0.75...1.25)
    ) -> Date? {
        let delay = min(firstDelay * pow(2, Double(min(attempt, 64) - 1)), maximumDelay) * jitter
        let end = queuedAt.addingTimeInterval(window)
        let scheduled = now.addingTimeInterval(delay)
        let requested = now.addingTimeInterval(max(retryAfter ?? 0, delay))
        return [requested, scheduled].first { $0 <= end }
    }

    /// Returns the seconds until the time in a `Retry-After` header: a number of seconds, or a date as in RFC 9110,
    /// section 5.6.7. Nil if the header is missing or invalid.
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
