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
        return date(in: bytes, bytes.indices) ?? VerifyReceiptDate.date(fromText: text)
            ?? VerifyReceiptDate.date(fromMilliseconds: text)
    }

    /// Writes a date in Apple's format: whole seconds in UTC, with four digits for the year.
    package static func text(_ date: Date) -> String { date.inFourDigitYears.rfc3339 }

    /// Writes a date as `verifyReceipt` does before the name of the time zone: `2020-07-22 17:39:08`.
    static func verifyReceiptText(_ date: Date, secondsFromGMT: Int = 0) -> String {
        String(text(date.addingTimeInterval(Double(secondsFromGMT))).dropLast().map { $0 == "T" ? " " : $0 })
    }
}

extension Date {
    /// The date without a fraction, limited to the years 0 to 9999.
    fileprivate var inFourDigitYears: Date {
        let seconds = timeIntervalSince1970.rounded(.down)
        return Date(timeIntervalSince1970: seconds.isNaN ? 0 : min(max(seconds, -62_167_219_200), 253_402_300_799))
    }
}
