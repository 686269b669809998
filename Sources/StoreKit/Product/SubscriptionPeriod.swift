public import Foundation
import TenureCore

extension Product {
    /// The length of a subscription's period, or of an offer.
    public struct SubscriptionPeriod: Equatable, Hashable, CustomDebugStringConvertible, Sendable {
        /// The unit of a period, ordered by length.
        public enum Unit: Equatable, Hashable, Comparable, CustomDebugStringConvertible, Sendable {
            /// A calendar day, in UTC.
            case day
            /// Seven days.
            case week
            /// A calendar month. The day of the month is kept, or is the last day of a shorter month.
            case month
            /// Twelve calendar months.
            case year

            /// The same as `localizedDescription`.
            public var debugDescription: String { localizedDescription }

            /// The unit in English, in the singular; Apple's text is localized.
            public var localizedDescription: String {
                switch self {
                case .day: "day"
                case .week: "week"
                case .month: "month"
                case .year: "year"
                }
            }
        }

        /// The largest unit in which the period is a whole number: `P12M` is 1 year, and `P14D` is 2 weeks.
        public let unit: Unit
        /// How many units the period has, such as 2 for `P2W`.
        public let value: Int

        /// Value and unit in English, such as `3 month`.
        public var debugDescription: String { "\(value) \(unit)" }

        init(_ value: Int, _ unit: Unit) {
            self.unit = unit
            self.value = value
        }

        /// The period `P1W`.
        public static var weekly: SubscriptionPeriod { .init(1, .week) }
        /// The period `P1M`.
        public static var monthly: SubscriptionPeriod { .init(1, .month) }
        /// The period `P1Y`.
        public static var yearly: SubscriptionPeriod { .init(1, .year) }
        /// The period `P3D`.
        public static var everyThreeDays: SubscriptionPeriod { .init(3, .day) }
        /// The period `P2W`.
        public static var everyTwoWeeks: SubscriptionPeriod { .init(2, .week) }
        /// The period `P2M`.
        public static var everyTwoMonths: SubscriptionPeriod { .init(2, .month) }
        /// The period `P3M`.
        public static var everyThreeMonths: SubscriptionPeriod { .init(3, .month) }
        /// The period `P6M`.
        public static var everySixMonths: SubscriptionPeriod { .init(6, .month) }

        /// Returns the range from a date to the end of the period after it, in UTC and the Gregorian calendar.
        public func dateRange(referenceDate: Date = .now) -> Range<Date> {
            let period =
                switch unit {
                case .day: CalendarPeriod(days: value)
                case .week: CalendarPeriod(days: 7 * value)
                case .month: CalendarPeriod(months: value)
                case .year: CalendarPeriod(months: 12 * value)
                }
            return referenceDate..<max(referenceDate, period.end(from: referenceDate))
        }

        /// Formats the dates from `referenceDate` to the end of the period after it.
        public func formatted<S: FormatStyle>(
            _ format: S, referenceDate: Date = .now
        ) -> S.FormatOutput where S.FormatInput == Range<Date> {
            format.format(dateRange(referenceDate: referenceDate))
        }

        /// Formats the period's length in seconds, which depends on `referenceDate`: months differ.
        public func formatted<S: FormatStyle>(
            _ format: S, referenceDate: Date = .now
        ) -> S.FormatOutput where S.FormatInput == Duration {
            let range = dateRange(referenceDate: referenceDate)
            return format.format(.seconds(range.upperBound.timeIntervalSince(range.lowerBound)))
        }

        /// Reads an ISO 8601 duration in the largest unit in which it is a whole number: `P12M` is 1 year. Nil if the
        /// text isn't a duration, or has both months and days.
        init?(iso8601 text: String) {
            guard let period = CalendarPeriod(iso8601: text), period.months == 0 || period.days == 0 else { return nil }
            if period.months > 0 {
                self = period.months % 12 == 0 ? .init(period.months / 12, .year) : .init(period.months, .month)
            } else {
                self = period.days % 7 == 0 ? .init(period.days / 7, .week) : .init(period.days, .day)
            }
        }
    }
}
