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
        let whole = Int64(milliseconds)
        let day = Int(whole >= 0 ? whole / 86_400_000 : -((-whole + 86_399_999) / 86_400_000))
        let ofDay = Int(whole - Int64(day) * 86_400_000)
        let civil = CivilDay(number: day)
        append(pair: civil.year / 100)
        append(pair: civil.year % 100)
        append(byte: UInt8(ascii: "-"))
        append(pair: civil.month)
        append(byte: UInt8(ascii: "-"))
        append(pair: civil.day)
        append(byte: UInt8(ascii: "T"))
        append(pair: ofDay / 3_600_000)
        append(byte: UInt8(ascii: ":"))
        append(pair: ofDay / 60_000 % 60)
        append(byte: UInt8(ascii: ":"))
        append(pair: ofDay / 1000 % 60)
        let fraction = ofDay % 1000
        if fraction > 0 {
            append(byte: UInt8(ascii: "."))
            append(pair: fraction / 10)
            append(byte: digit(fraction % 10))
        }
        append(byte: UInt8(ascii: "Z"))
    }

    /// A number from 0 to 99, in two digits.
    private mutating func append(pair number: Int) {
        append(byte: digit(number / 10))
        append(byte: digit(number % 10))
    }

    private func digit(_ number: Int) -> UInt8 { UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number) }
}
