package import Foundation
import TenureJSON

/// Dates in receipts: RFC 3339, and Xcode's format (`2020-07-22T18:33:15+0100`).
package enum ReceiptDate {
    /// Reads a date. Nil if the bytes aren't a date. The caller handles an empty string, which means that there is no
    /// date.
    static func date(in bytes: [UInt8], _ range: Range<Int>) -> Date? { Date(rfc3339: bytes, in: range, .exact) }

    /// Reads a date in RFC 3339, in `verifyReceipt`'s format, or as milliseconds since 1970.
    package static func date(fromAnyText text: String) -> Date? {
        let bytes = Array(text.utf8)
        return date(in: bytes, bytes.indices) ?? date(fromText: text) ?? date(fromMilliseconds: text)
    }

    /// Writes a date in Apple's format: whole seconds in UTC, with four digits for the year.
    package static func text(_ date: Date) -> String {
        // The bounds are the beginning of the year 0 and the end of the year 9999.
        let seconds = date.timeIntervalSince1970.rounded(.down)
        let bounded = seconds.isNaN ? 0 : min(max(seconds, -62_167_219_200), 253_402_300_799)
        return Date(timeIntervalSince1970: bounded).rfc3339
    }

    /// Writes a date as `verifyReceipt` does before the name of the time zone: `2020-07-22 17:39:08`.
    private static func verifyReceiptText(_ date: Date, secondsFromGMT: Int = 0) -> String {
        // `dropLast` removes the Z.
        String(text(date.addingTimeInterval(Double(secondsFromGMT))).dropLast().map { $0 == "T" ? " " : $0 })
    }

    // MARK: In a response of `verifyReceipt`

    /// Returns the three members of one date: `X` in UTC, `X_ms` in milliseconds since 1970, and `X_pst` in Pacific
    /// time.
    static func members(_ name: String, _ date: Date) -> [JSONObject.Member] {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        // The number always fits: years in receipts have four digits.
        let number = Int64(exactly: milliseconds) ?? 0
        var members = [
            JSONObject.Member(name: name, value: .string(verifyReceiptText(date) + " Etc/GMT")),
            JSONObject.Member(name: name + "_ms", value: .string(String(number))),
        ]
        // A minimal system may have no time zone data.
        if let zone = TimeZone(identifier: "America/Los_Angeles") {
            let text = verifyReceiptText(date, secondsFromGMT: zone.secondsFromGMT(for: date))
            members.append(JSONObject.Member(name: name + "_pst", value: .string(text + " America/Los_Angeles")))
        }
        return members
    }

    /// Reads `2020-07-22 17:39:08 Etc/GMT`; nil for any other text.
    private static func date(fromText text: String) -> Date? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == "Etc/GMT" else { return nil }
        let rfc3339 = Array("\(parts[0])T\(parts[1])Z".utf8)
        return date(in: rfc3339, rfc3339.indices)
    }

    /// Reads milliseconds since 1970, as a number or a string, with or without a fraction; nil for any other value.
    private static func date(fromMilliseconds text: String) -> Date? {
        guard let milliseconds = Double(text), milliseconds.isFinite, abs(milliseconds) < 1e15 else { return nil }
        return Date(timeIntervalSince1970: milliseconds / 1000)
    }
}
