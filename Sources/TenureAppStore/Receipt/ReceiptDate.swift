package import Foundation
import TenureCore
import TenureJSON

/// Dates of receipts: RFC 3339, and Xcode's form (`2020-07-22T18:33:15+0100`).
package enum ReceiptDate {
    /// Nil if the bytes aren't such a date. The caller handles an empty text, which means no date.
    static func date(in bytes: [UInt8], _ range: Range<Int>) -> Date? { Date(rfc3339: bytes, in: range, .exact) }

    /// The forms that a person may write: RFC 3339, `verifyReceipt`'s form, or milliseconds since 1970.
    package static func date(fromAnyText text: String) -> Date? {
        let bytes = Array(text.utf8)
        return date(in: bytes, bytes.indices) ?? VerifyReceiptDate.date(fromText: text)
            ?? VerifyReceiptDate.date(fromMilliseconds: text)
    }

    /// In Apple's form: whole seconds, UTC. The year has four digits.
    package static func text(_ date: Date) -> String { date.inFourDigitYears.rfc3339 }

    /// `2020-07-22 17:39:08`, as `verifyReceipt` writes dates before the name of the time zone.
    static func verifyReceiptText(_ date: Date, secondsFromGMT: Int = 0) -> String {
        String(text(date.addingTimeInterval(Double(secondsFromGMT))).dropLast().map { $0 == "T" ? " " : $0 })
    }
}

extension Date {
    /// In the years 0 to 9999, without a fraction.
    fileprivate var inFourDigitYears: Date {
        let seconds = timeIntervalSince1970.rounded(.down)
        return Date(timeIntervalSince1970: seconds.isNaN ? 0 : min(max(seconds, -62_167_219_200), 253_402_300_799))
    }
}
