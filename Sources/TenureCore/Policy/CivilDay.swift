public import Foundation
import TenureJSON

/// A day of the proleptic Gregorian calendar, in no time zone.
public struct CivilDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The year of the Gregorian calendar: 0 to 9999 if it was read from text.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, 1 to 31.
    public let day: Int

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Reads `2015-06-10`; nil if the text has another form or the day doesn't exist.
    public init?(_ text: String) {
        guard text.utf8.count == 10, let midnight = Date(rfc3339: text + "T00:00:00Z") else { return nil }
        self.init(of: midnight)
    }

    /// Creates the day with this number.
    ///
    /// - Parameter number: days since 1970-01-01.
    init(number: Int) { (year, month, day) = GregorianCalendar.date(dayNumber: number) }

    /// Creates the day in UTC that contains an instant.
    package init(of date: Date) {
        let seconds = date.timeIntervalSince1970
        // The bounds, about 95,000 years, keep `Int` and the calendar from overflowing.
        let bounded = seconds.isNaN ? 0 : min(max(seconds, -3e12), 3e12)
        self.init(number: Int((bounded / 86_400).rounded(.down)))
    }

    /// The number of days since 1970-01-01.
    package var number: Int { GregorianCalendar.dayNumber(year: year, month: month, day: day) }

    /// The instant at which the day begins in UTC.
    public var midnight: Date { Date(timeIntervalSince1970: Double(number) * 86_400) }
    /// The instant at which the day begins first anywhere: 00:00 in UTC+14.
    package var firstBeginning: Date { midnight.addingTimeInterval(-14 * 3600) }
    /// The instant at which the day begins last anywhere: 00:00 in UTC-12.
    package var lastBeginning: Date { midnight.addingTimeInterval(12 * 3600) }
    /// The instant at which the day ends last anywhere: 24:00 in UTC-12, but no later than the end of 9999 in UTC,
    /// because RFC 3339 has no later year.
    package var lastEnd: Date { min(midnight.addingTimeInterval((24 + 12) * 3600), Self.endOfYear9999) }

    static let endOfYear9999 = Date(timeIntervalSince1970: 253_402_300_799)

    /// Orders days by the calendar, the earlier first.
    public static func < (left: CivilDay, right: CivilDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// The day as in ISO 8601, such as `2015-06-10`.
    public var description: String { "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))" }
}

extension Date {
    /// Reads a date that a user typed: a time in RFC 3339, or a day, which means 00:00 UTC. Nil for other texts.
    package init?(written text: String) {
        guard let date = Date(rfc3339: text) ?? CivilDay(text)?.midnight else { return nil }
        self = date
    }
}
