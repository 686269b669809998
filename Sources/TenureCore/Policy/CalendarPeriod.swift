public import Foundation
import TenureJSON

/// A length of calendar time such as `P1Y`, `P3M` or `P2W`, counted in UTC and the Gregorian calendar.
public struct CalendarPeriod: Sendable, Hashable {
    /// The number of whole months. A year has twelve.
    public let months: Int
    /// The number of days in addition to the months. A week has seven.
    public let days: Int

    /// Creates a period from whole months and days, neither of them negative.
    public init(months: Int = 0, days: Int = 0) {
        self.months = months
        self.days = days
    }

    /// Reads an ISO 8601 duration with years, months, weeks and days; nil for anything else, and for `P0D`.
    public init?(iso8601 text: String) {
        // At most five digits: 99,999 years can't overflow.
        let format = #/P(?:([0-9]{1,5})Y)?(?:([0-9]{1,5})M)?(?:([0-9]{1,5})W)?(?:([0-9]{1,5})D)?/#
        guard let match = text.wholeMatch(of: format) else { return nil }
        func number(_ digits: Substring?) -> Int { digits.flatMap { Int($0) } ?? 0 }
        let months = 12 * number(match.1) + number(match.2)
        let days = 7 * number(match.3) + number(match.4)
        // Limit the sums, too, so that the output of `iso8601` can be read again.
        guard months > 0 || days > 0, months / 12 <= Self.maximumNumber, days <= Self.maximumNumber else { return nil }
        self.init(months: months, days: days)
    }

    /// The maximum number of years, and of days.
    private static let maximumNumber = 99_999

    /// The period as in ISO 8601, such as `P1Y6M` or `P14D`.
    public var iso8601: String {
        let (years, months) = months.quotientAndRemainder(dividingBy: 12)
        return "P" + (years > 0 ? "\(years)Y" : "") + (months > 0 ? "\(months)M" : "") + (days > 0 ? "\(days)D" : "")
    }

    /// Returns the date one period after `start`, at the same time of day, but no date after the year 9999. One month
    /// after January 31 is the last day of February.
    public func end(from start: Date) -> Date {
        let seconds = start.timeIntervalSince1970
        let dayNumber = (seconds / 86_400).rounded(.down)
        // The limit prevents an overflow. No real date exceeds the limit.
        guard abs(dayNumber) < 4_000_000 else { return start }
        let timeOfDay = seconds - dayNumber * 86_400
        var day = CivilDay(number: Int(dayNumber))
        let monthIndex = day.year * 12 + (day.month - 1) + months
        let year = Int((Double(monthIndex) / 12).rounded(.down))
        let month = monthIndex - year * 12 + 1
        day = CivilDay(
            year: year, month: month, day: min(day.day, GregorianCalendar.length(ofMonth: month, year: year)))
        let end = Date(timeIntervalSince1970: Double(day.number + days) * 86_400 + timeOfDay)
        return min(end, CivilDay.endOfYear9999)
    }
}
