package import Foundation

/// Reads and writes dates in RFC 3339. Foundation's formatters aren't used, because they are slow and differ between
/// systems.
extension Date {
    /// Reads a date such as `2015-06-10T18:00:00Z`; nil for any other text, and for dates outside the years 0 to 9999
    /// in UTC.
    ///
    /// The time zone is required: `Z`, `+02:00`, or `+0200` as in Xcode's receipts. Seconds are optional. A fraction is
    /// truncated to milliseconds.
    package init?(rfc3339 text: some StringProtocol) { self.init(rfc3339: Array(text.utf8)) }

    init?(rfc3339 bytes: [UInt8]) { self.init(rfc3339: bytes, in: bytes.indices, .lenient) }

    /// How strictly a date is read.
    package enum TimestampForm: Sendable, Hashable {
        /// For dates that people write: a space may replace the `T`, seconds may be missing, and a fraction is
        /// truncated to milliseconds.
        case lenient
        /// For dates that programs write: `T` and seconds are required, and a fraction is read to the nanosecond.
        case exact
    }

    /// Reads a timestamp from a range of UTF-8 bytes.
    package init?(rfc3339 bytes: [UInt8], in range: Range<Int>, _ form: TimestampForm) {
        var scanner = TimestampScanner(
            bytes: bytes, position: range.lowerBound, end: min(range.upperBound, bytes.count))
        guard let year = scanner.number(digits: 4), scanner.skip("-"),
            let month = scanner.number(digits: 2), scanner.skip("-"), (1...12).contains(month),
            let day = scanner.number(digits: 2), day >= 1, day <= GregorianCalendar.length(ofMonth: month, year: year),
            scanner.skip("T") || scanner.skip("t") || (form == .lenient && scanner.skip(" ")),
            let hour = scanner.number(digits: 2), hour < 24, scanner.skip(":"),
            let minute = scanner.number(digits: 2), minute < 60
        else { return nil }
        var second = 0
        var fraction = 0.0
        if scanner.skip(":") {
            // A leap second is read as the beginning of the next minute.
            guard let number = scanner.number(digits: 2), number <= 60 else { return nil }
            second = number
            if scanner.skip(".") {
                guard let read = scanner.fraction() else { return nil }
                fraction = read
            }
        } else if form == .exact {
            return nil
        }
        guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
        let days = GregorianCalendar.dayNumber(year: year, month: month, day: day)
        // Use 64 bits: `Int` has 32 bits on some watches, and seconds exceed that in 2038.
        let seconds = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second - offset)
        // The offset can move the date to a year without four digits. Reject that, so that each date that was read can
        // be written and read again.
        guard Self.secondsOfFourDigitYears.contains(seconds) else { return nil }
        switch form {
        case .lenient:
            // `Int64` truncates. The product for a fraction of whole milliseconds, such as .029, is never smaller than
            // the exact number of milliseconds, so truncating loses none of them.
            let milliseconds = Int64(fraction * 1000)
            self.init(timeIntervalSince1970: Double(seconds * 1000 + milliseconds) / 1000)
        case .exact:
            // A `Double` in the year 9999 has about 30 microseconds of precision, and would be rounded to the year
            // 10000.
            let last = Double(Self.secondsOfFourDigitYears.upperBound) - 0.001
            self.init(timeIntervalSince1970: min(Double(seconds) + fraction, last))
        }
    }

    /// The seconds since 1970 from 0000-01-01T00:00:00Z up to 10000-01-01T00:00:00Z.
    private static let secondsOfFourDigitYears: Range<Int64> = -62_167_219_200..<253_402_300_800

    /// The date in UTC, such as `2015-06-10T18:00:00Z`, with milliseconds if they aren't zero. Years outside 0–9999
    /// have a sign and six digits, as in ISO 8601.
    package var rfc3339: String {
        var text = UTF8Builder(capacity: 32)
        appendRFC3339(to: &text)
        return text.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Appends the text of `rfc3339` without creating a string.
    func appendRFC3339(to text: inout UTF8Builder) {
        // Replace infinities and dates beyond about ±95,000 years with the nearest date in that range.
        let seconds = timeIntervalSince1970
        let bounded = seconds.isNaN ? 0 : min(max(seconds, -3e12), 3e12)
        let (days, ofDay) = Int64((bounded * 1000).rounded()).daysAndMilliseconds
        let civil = GregorianCalendar.date(dayNumber: days)
        if (0...9999).contains(civil.year) {
            text.append(pair: civil.year / 100)
            text.append(pair: civil.year % 100)
        } else {
            text.append(civil.year < 0 ? "-" : "+")
            text.append(text: abs(civil.year).padded(to: 6))
        }
        text.append("-")
        text.append(pair: civil.month)
        text.append("-")
        text.append(pair: civil.day)
        text.append("T")
        text.append(pair: ofDay / 3_600_000)
        text.append(":")
        text.append(pair: ofDay / 60_000 % 60)
        text.append(":")
        text.append(pair: ofDay / 1000 % 60)
        let fraction = ofDay % 1000
        if fraction > 0 {
            text.append(".")
            text.append(pair: fraction / 10)
            text.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: fraction % 10))
        }
        text.append("Z")
    }
}

extension Int64 {
    /// Splits milliseconds into whole days, rounded down, and the milliseconds of the last day.
    fileprivate var daysAndMilliseconds: (days: Int, ofDay: Int) {
        let (days, remainder) = quotientAndRemainder(dividingBy: 86_400_000)
        return remainder < 0 ? (Int(days) - 1, Int(remainder) + 86_400_000) : (Int(days), Int(remainder))
    }
}

/// Scans the bytes of a timestamp. Bytes are faster than characters, and a receipt may have hundreds of timestamps.
private struct TimestampScanner {
    let bytes: [UInt8]
    var position: Int
    let end: Int

    var isAtEnd: Bool { position == end }

    /// Skips this character. Returns false if the next character is a different one, or at the end.
    @inline(__always) mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < end, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    @inline(__always) mutating func digit() -> Int? {
        guard position < end else { return nil }
        let digit = bytes[position] &- UInt8(ascii: "0")
        guard digit < 10 else { return nil }
        position += 1
        return Int(digit)
    }

    /// Reads a number with exactly this many digits.
    @inline(__always) mutating func number(digits: Int) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// Reads the digits after the period. Digits beyond nanoseconds are skipped.
    mutating func fraction() -> Double? {
        guard var number = digit() else { return nil }
        var scale = 10
        while let digit = digit() {
            guard scale < 1_000_000_000 else { continue }
            number = number * 10 + digit
            scale *= 10
        }
        return Double(number) / Double(scale)
    }

    /// Reads a time zone (`Z`, `+01:00` or `+0100`) as seconds east of UTC.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(digits: 2), hours < 24 else { return nil }
        _ = skip(":")
        guard let minutes = number(digits: 2), minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
