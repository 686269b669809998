public import Foundation

/// A length of calendar time such as `P1Y`, `P3M` or `P2W`, counted in UTC and the Gregorian calendar.
public struct CalendarPeriod: Sendable, Hashable {
    public let months: Int
    public let days: Int

    public init(months: Int = 0, days: Int = 0) {
        self.months = months
        self.days = days
    }

    /// Reads ISO 8601 with years, months, weeks and days; nil for anything else, and for nothing at all (`P0D`).
    public init?(iso8601 text: String) {
        var rest = text.utf8[...]
        guard rest.popFirst() == UInt8(ascii: "P") else { return nil }
        var months = 0
        var days = 0
        var unitsLeft = "YMWD".utf8[...]
        while !rest.isEmpty {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...Self.mostDigits).contains(digits.count), let number = Int(Substring(digits)) else { return nil }
            rest = rest.dropFirst(digits.count)
            guard let unit = rest.popFirst(), let place = unitsLeft.firstIndex(of: unit) else { return nil }
            unitsLeft = unitsLeft[unitsLeft.index(after: place)...]
            switch unit {
            case UInt8(ascii: "Y"): months += 12 * number
            case UInt8(ascii: "M"): months += number
            case UInt8(ascii: "W"): days += 7 * number
            default: days += number
            }
        }
        // Also put together, so that what is read can be written and read again.
        guard months > 0 || days > 0, months / 12 <= Self.largestNumber, days <= Self.largestNumber else { return nil }
        self.init(months: months, days: days)
    }

    /// 99,999 days, or 99,999 years: enough, and no overflow.
    private static let mostDigits = 5
    private static let largestNumber = 99_999

    public var iso8601: String {
        let (years, months) = months.quotientAndRemainder(dividingBy: 12)
        return "P" + (years > 0 ? "\(years)Y" : "") + (months > 0 ? "\(months)M" : "") + (days > 0 ? "\(days)D" : "")
    }

    /// The same time of day that much later; a day that the month does not have becomes its last one.
    public func end(from start: Date) -> Date {
        let seconds = start.timeIntervalSince1970
        let dayNumber = (seconds / 86_400).rounded(.down)
        // Outside of the years that anybody means the calendar does not matter, and an Int must not overflow.
        guard abs(dayNumber) < 4_000_000 else { return start }
        let timeOfDay = seconds - dayNumber * 86_400
        var day = CivilDay(number: Int(dayNumber))
        let monthIndex = day.year * 12 + (day.month - 1) + months
        let year = Int((Double(monthIndex) / 12).rounded(.down))
        let month = monthIndex - year * 12 + 1
        day = CivilDay(year: year, month: month, day: min(day.day, CivilDay.length(ofMonth: month, year: year)))
        return Date(timeIntervalSince1970: Double(day.number + days) * 86_400 + timeOfDay)
    }
}

/// A day of the proleptic Gregorian calendar, in no time zone.
public struct CivilDay: Sendable, Hashable, Comparable {
    public let year: Int
    public let month: Int
    public let day: Int

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Reads `2015-06-10`; nil where there is no such day.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            (1...12).contains(month), day >= 1, day <= Self.length(ofMonth: month, year: year)
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// The day that many days after 1970-01-01. Counted in years that begin in March, so that a leap day ends one.
    package init(number: Int) {
        let shifted = number + 719_468
        let era = Int((Double(shifted) / 146_097).rounded(.down))
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01.
    package var number: Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = Int((Double(marchYear) / 400).rounded(.down))
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Midnight in UTC.
    public var midnight: Date { Date(timeIntervalSince1970: Double(number) * 86_400) }
    /// The instant at which the day begins first anywhere: 00:00 in UTC+14.
    package var firstBeginning: Date { midnight.addingTimeInterval(-14 * 3600) }
    /// The instant at which the day begins last anywhere: 00:00 in UTC-12.
    package var lastBeginning: Date { midnight.addingTimeInterval(12 * 3600) }
    /// The instant at which the day ends last anywhere: 24:00 in UTC-12.
    package var lastEnd: Date { midnight.addingTimeInterval((24 + 12) * 3600) }

    public static func < (left: CivilDay, right: CivilDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    package static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
