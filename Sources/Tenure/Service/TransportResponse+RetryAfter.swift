import Foundation
import TenureHTTP

/// Reads the header `Retry-After`.
extension TransportResponse {
    /// The seconds that the server asks the client to wait before the next request. Nil if the response has no valid
    /// `Retry-After`.
    ///
    /// RFC 9110, section 10.2.3, allows a number or a date. A date is compared with the server's own `Date`, because
    /// the device's clock may be wrong.
    var retryAfter: Double? {
        guard let text = header("Retry-After") else { return nil }
        if let seconds = Double(text) { return seconds.isFinite ? max(0, seconds) : nil }
        guard let date = Self.date(text), let now = header("Date").flatMap(Self.date) else { return nil }
        return max(0, date.timeIntervalSince(now))
    }

    /// Reads a date in the preferred format of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }
}
