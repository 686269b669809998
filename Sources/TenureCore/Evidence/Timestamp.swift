package import Foundation

/// Instants as text: RFC 3339, read and written without formatters, which are slow and differ between systems.
extension Date {
    /// Reads `2015-06-10T18:00:00Z`. The time zone must be said (`Z`, `+02:00`, or `+0200` as Xcode's receipts have it);
    /// seconds may be left out; a fraction counts to the millisecond. Nil for anything else.
    package init?(rfc3339 text: some StringProtocol) {
        self.init(rfc3339: Array(text.utf8))
    }

    package init?(rfc3339 bytes: [UInt8]) {
        self.init(rfc3339: bytes[...])
    }

    /// The same from UTF-8 bytes.
    package init?(rfc3339 bytes: ArraySlice<UInt8>) {
        var digits = TimestampBytes(rest: bytes)
        guard let year = digits.number(4), digits.skip("-"), let month = digits.number(2), digits.skip("-"),
            let day = digits.number(2), (1...12).contains(month),
            day >= 1, day <= CivilDay.length(ofMonth: month, year: year),
            digits.skip("T") || digits.skip("t") || digits.skip(" "),
            let hour = digits.number(2), hour < 24, digits.skip(":"), let minute = digits.number(2), minute < 60
        else { return nil }
        var second = 0
        var milliseconds = 0
        if digits.skip(":") {
            // A leap second is the first instant of the next minute.
            guard let seconds = digits.number(2), seconds <= 60 else { return nil }
            second = seconds
            if digits.skip(".") {
                guard let fraction = digits.fraction() else { return nil }
                milliseconds = fraction
            }
        }
        guard let offset = digits.offset(), digits.rest.isEmpty else { return nil }
        let days = CivilDay(year: year, month: month, day: day).number
        // Watches count in 32 bits, which seconds outgrow in 2038.
        let seconds = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second - offset)
        self.init(timeIntervalSince1970: Double(seconds * 1000 + Int64(milliseconds)) / 1000)
    }

    /// An instant as people write it for a command: as in RFC 3339, or a day, which is its midnight in UTC.
    package init?(written text: String) {
        guard let date = Date(rfc3339: text) ?? CivilDay(text)?.midnight else { return nil }
        self = date
    }

    /// `2015-06-10T18:00:00Z`, in UTC; with milliseconds where there are any. Years beyond 0–9999 have a sign and more
    /// digits, as in ISO 8601.
    package var rfc3339: String {
        // What no calendar reaches (infinities, and more than ±100,000 years) stands at the nearest that one does.
        let seconds = timeIntervalSince1970
        let bounded = seconds.isNaN ? 0 : min(max(seconds, -3e12), 3e12)
        let (days, ofDay) = Int64((bounded * 1000).rounded()).daysAndMilliseconds
        let civil = CivilDay(number: days)
        let year =
            (0...9999).contains(civil.year)
            ? padded(civil.year, 4) : (civil.year < 0 ? "-" : "+") + padded(abs(civil.year), 6)
        let fraction = ofDay % 1000
        return "\(year)-\(padded(civil.month, 2))-\(padded(civil.day, 2))"
            + "T\(padded(ofDay / 3_600_000, 2)):\(padded(ofDay / 60_000 % 60, 2)):\(padded(ofDay / 1000 % 60, 2))"
            + (fraction == 0 ? "" : "." + padded(fraction, 3)) + "Z"
    }
}

extension CivilDay: CustomStringConvertible {
    /// The day in UTC on which the instant falls.
    package init(of date: Date) {
        let seconds = date.timeIntervalSince1970
        let bounded = seconds.isNaN ? 0 : min(max(seconds, -3e12), 3e12)
        self.init(number: Int((bounded / 86_400).rounded(.down)))
    }

    /// `2015-06-10`.
    public var description: String { "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))" }
}

private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

extension Int64 {
    /// Of milliseconds: the whole days, rounded down, and the rest.
    fileprivate var daysAndMilliseconds: (days: Int, ofDay: Int) {
        let (days, rest) = quotientAndRemainder(dividingBy: 86_400_000)
        return rest < 0 ? (Int(days) - 1, Int(rest) + 86_400_000) : (Int(days), Int(rest))
    }
}

/// What is left of a timestamp's bytes.
private struct TimestampBytes {
    var rest: ArraySlice<UInt8>

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func number(_ width: Int) -> Int? {
        guard rest.count >= width else { return nil }
        var value = 0
        for byte in rest.prefix(width) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        rest = rest.dropFirst(width)
        return value
    }

    /// Milliseconds; digits beyond them are read and dropped.
    mutating func fraction() -> Int? {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(digits.count)
        var value = 0
        for place in 0..<3 {
            value *= 10
            if place < digits.count { value += Int(digits[digits.startIndex + place] - UInt8(ascii: "0")) }
        }
        return value
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(2), hours < 24 else { return nil }
        _ = skip(":")
        guard let minutes = number(2), minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
