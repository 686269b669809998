import Foundation
import TenureCore

extension JSONWriter {
    /// As `Date.rfc3339`, digit by digit into the bytes.
    mutating func append(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        let milliseconds = (seconds * 1000).rounded()
        // The years 1 to 9999; others are rare, and their spelling is settled in one place.
        guard milliseconds > -62_135_596_800_000, milliseconds < 253_402_300_800_000 else {
            append(contentsOf: date.rfc3339)
            return
        }
        let whole = Int(milliseconds)
        let day = whole >= 0 ? whole / 86_400_000 : -((-whole + 86_399_999) / 86_400_000)
        let ofDay = UInt64(whole - day * 86_400_000)
        let civil = CivilDay(number: day)
        append(digits: UInt64(civil.year), width: 4)
        append("-", UInt64(civil.month))
        append("-", UInt64(civil.day))
        append("T", ofDay / 3_600_000)
        append(":", ofDay / 60_000 % 60)
        append(":", ofDay / 1000 % 60)
        if ofDay % 1000 > 0 {
            append(contentsOf: ".")
            append(digits: ofDay % 1000, width: 3)
        }
        append(contentsOf: "Z")
    }

    private mutating func append(_ separator: Unicode.Scalar, _ number: UInt64) {
        append(contentsOf: String(separator))
        append(digits: number, width: 2)
    }
}
