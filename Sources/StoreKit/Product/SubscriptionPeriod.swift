public import Foundation
import TenureCore

extension Product {
    /// The length of a subscription's period, or of an offer.
    public struct SubscriptionPeriod: Equatable, Hashable, Sendable {
        public enum Unit: Equatable, Hashable, Comparable, Sendable {
            case day, week, month, year
        }

        public let unit: Unit
        public let value: Int

        init(_ value: Int, _ unit: Unit) {
            self.unit = unit
            self.value = value
        }

        public static var weekly: SubscriptionPeriod { .init(1, .week) }
        public static var monthly: SubscriptionPeriod { .init(1, .month) }
        public static var yearly: SubscriptionPeriod { .init(1, .year) }
        public static var everyThreeDays: SubscriptionPeriod { .init(3, .day) }
        public static var everyTwoWeeks: SubscriptionPeriod { .init(2, .week) }
        public static var everyTwoMonths: SubscriptionPeriod { .init(2, .month) }
        public static var everyThreeMonths: SubscriptionPeriod { .init(3, .month) }
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

        public func formatted<S: FormatStyle>(
            _ format: S, referenceDate: Date = .now
        ) -> S.FormatOutput where S.FormatInput == Range<Date> {
            format.format(dateRange(referenceDate: referenceDate))
        }

        public func formatted<S: FormatStyle>(
            _ format: S, referenceDate: Date = .now
        ) -> S.FormatOutput where S.FormatInput == Duration {
            let range = dateRange(referenceDate: referenceDate)
            return format.format(.seconds(range.upperBound.timeIntervalSince(range.lowerBound)))
        }
    }
}

extension Product.SubscriptionPeriod {
    /// The largest unit in which an ISO 8601 length is a whole number; nil without such a unit.
    init?(iso8601 text: String) {
        guard let period = CalendarPeriod(iso8601: text), period.months == 0 || period.days == 0 else { return nil }
        if period.months > 0 {
            self = period.months % 12 == 0 ? .init(period.months / 12, .year) : .init(period.months, .month)
        } else {
            self = period.days % 7 == 0 ? .init(period.days / 7, .week) : .init(period.days, .day)
        }
    }
}

extension Product.SubscriptionPeriod: CustomDebugStringConvertible {
    public var debugDescription: String { "\(value) \(unit)" }
}

extension Product.SubscriptionPeriod.Unit: CustomDebugStringConvertible {
    public var debugDescription: String { localizedDescription }

    public var localizedDescription: String {
        switch self {
        case .day: "day"
        case .week: "week"
        case .month: "month"
        case .year: "year"
        }
    }
}
