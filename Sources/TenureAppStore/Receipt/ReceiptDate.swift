package import Foundation

/// Dates of receipts: RFC 3339, and what Xcode makes of it (`2020-07-22T18:33:15+0100`).
///
/// By hand, since a date formatter costs more than all the rest of a receipt together.
package enum ReceiptDate {
    /// Nil where the bytes are no such date. An empty text is for the caller: it means that there is no date.
    static func date(in bytes: [UInt8], _ range: Range<Int>) -> Date? {
        var scanner = Scanner(bytes: bytes, position: range.lowerBound, end: min(range.upperBound, bytes.count))
        guard let year = scanner.number(digits: 4), scanner.skip("-"),
            let month = scanner.number(digits: 2), scanner.skip("-"), (1...12).contains(month),
            let day = scanner.number(digits: 2), (1...daysIn(month: month, year: year)).contains(day),
            scanner.skip("T") || scanner.skip("t"),
            let hour = scanner.number(digits: 2), scanner.skip(":"), hour < 24,
            let minute = scanner.number(digits: 2), scanner.skip(":"), minute < 60,
            // RFC 3339 knows leap seconds.
            let second = scanner.number(digits: 2), second <= 60
        else { return nil }
        var fraction = 0.0
        if scanner.skip(".") {
            guard let read = scanner.fraction() else { return nil }
            fraction = read
        }
        guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
        let seconds = daysSince1970(year: year, month: month, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds - offset) + fraction)
    }

    /// What a person may write: RFC 3339, `verifyReceipt`'s form, or milliseconds since 1970.
    package static func date(fromAnyText text: String) -> Date? {
        let bytes = Array(text.utf8)
        return date(in: bytes, bytes.indices) ?? VerifyReceiptDate.date(fromText: text)
            ?? VerifyReceiptDate.date(fromMilliseconds: text)
    }

    /// As Apple writes it: whole seconds, UTC. The year is limited to what four digits can say.
    package static func text(_ date: Date) -> String {
        let (year, month, day, seconds) = components(of: date)
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(clock(seconds))Z"
    }

    /// `2020-07-22 17:39:08`, as `verifyReceipt` writes dates in front of the name of the time zone.
    static func verifyReceiptText(_ date: Date, secondsFromGMT: Int = 0) -> String {
        let (year, month, day, seconds) = components(of: date.addingTimeInterval(Double(secondsFromGMT)))
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2)) \(clock(seconds))"
    }

    private static func clock(_ seconds: Int) -> String {
        "\(pad(seconds / 3_600, 2)):\(pad(seconds / 60 % 60, 2)):\(pad(seconds % 60, 2))"
    }

    private static func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    // MARK: The calendar (proleptic Gregorian)

    /// Days from 1970-01-01. The year runs from March here, so that the leap day is its last.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func components(of date: Date) -> (year: Int, month: Int, day: Int, seconds: Int) {
        // The years 0 to 9999.
        let bounded = min(max(date.timeIntervalSince1970.rounded(.down), -62_167_219_200), 253_402_300_799)
        let total = bounded.isNaN ? 0 : Int(bounded)
        let days = (total >= 0 ? total : total - 86_399) / 86_400
        let seconds = total - days * 86_400
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1, seconds)
    }

    private static func daysIn(month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

private struct Scanner {
    let bytes: [UInt8]
    var position: Int
    let end: Int

    var isAtEnd: Bool { position == end }

    @inline(__always)
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < end, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    @inline(__always)
    mutating func digit() -> Int? {
        guard position < end else { return nil }
        let digit = bytes[position] &- UInt8(ascii: "0")
        guard digit < 10 else { return nil }
        position += 1
        return Int(digit)
    }

    @inline(__always)
    mutating func number(digits: Int) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// The digits behind the period. Beyond nanoseconds they are read and do not count.
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

    /// Seconds east of UTC: `Z`, `+01:00` or `+0100`.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int
        if skip("+") {
            sign = 1
        } else if skip("-") {
            sign = -1
        } else {
            return nil
        }
        guard let hours = number(digits: 2), hours < 24 else { return nil }
        _ = skip(":")
        guard let minutes = number(digits: 2), minutes < 60 else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }
}
