public import Foundation
public import TenureCore

extension Tenure {
    /// What a product costs and for how long, as the App Store sells it to this customer.
    ///
    /// A plain value: an app that shows its own prices, or a test, can make one.
    public struct ProductTerms: Sendable, Hashable {
        public enum Kind: Sendable, Hashable {
            /// Bought once, permanently.
            case nonConsumable
            case consumable
            /// Bought once, for `period`, which the policy says.
            case nonRenewing
            /// Bought again after each `period`.
            case autoRenewable
        }

        /// What a customer who is new to a subscription gets first.
        public struct Offer: Sendable, Hashable {
            public enum Payment: Sendable, Hashable {
                case free
                /// Once, for all of `length`.
                case upFront(Decimal)
                /// Again for each `period`, as long as `length`.
                case asYouGo(Decimal, period: CalendarPeriod)
            }

            public let payment: Payment
            public let length: CalendarPeriod

            public init(_ payment: Payment, for length: CalendarPeriod) {
                self.payment = payment
                self.length = length
            }

            /// As StoreKit counts: a period, and how many of them.
            public init(_ payment: Payment, period: CalendarPeriod, count: Int) {
                self.init(payment, for: period.times(count))
            }
        }

        public let id: String
        public let kind: Kind
        public let price: Decimal
        /// ISO 4217, such as `USD`.
        public let currencyCode: String
        /// How prices are written in the customer's storefront; nil: as in the language of the text.
        public let priceLocale: Locale?
        /// Nil for what has no end.
        public let period: CalendarPeriod?
        /// Only if this customer may have it.
        public let offer: Offer?

        public init(
            id: String, kind: Kind, price: Decimal, currencyCode: String, priceLocale: Locale? = nil,
            period: CalendarPeriod? = nil, offer: Offer? = nil
        ) {
            self.id = id
            self.kind = kind
            self.price = price
            self.currencyCode = currencyCode
            self.priceLocale = priceLocale
            self.period = period
            self.offer = offer
        }

        /// What it comes to per month; nil for what is not paid by time. A month has the 12th part of a year's days.
        public var pricePerMonth: Decimal? {
            guard let period, kind == .autoRenewable || kind == .nonRenewing else { return nil }
            if period.days == 0, period.months > 0 { return price / Decimal(period.months) }
            let days = period.approximateDays
            return days > 0 ? price * Self.daysPerMonth / days : nil
        }

        /// The Gregorian calendar repeats itself after 400 years, which have 146,097 days and 4,800 months.
        static let daysPerMonth = Decimal(146_097) / Decimal(4800)
    }
}

extension CalendarPeriod {
    var approximateDays: Decimal { Decimal(months) * Tenure.ProductTerms.daysPerMonth + Decimal(days) }

    /// Returns this period multiplied by `count`, which is limited to 1...10,000.
    func times(_ count: Int) -> CalendarPeriod {
        let count = min(max(count, 1), 10_000)
        func product(_ number: Int) -> Int { min(max(number, 0), 100_000) * count }
        return CalendarPeriod(months: product(months), days: product(days))
    }
}

extension Sequence<Tenure.ProductTerms> {
    /// Returns the terms sorted by length, the shortest first, followed by lifetime products and then consumables.
    /// Products of the same length are sorted by price.
    public func sortedByPeriod() -> [Tenure.ProductTerms] {
        sorted { left, right in
            if left.rank != right.rank { return left.rank < right.rank }
            let lengths = (left.period?.approximateDays ?? 0, right.period?.approximateDays ?? 0)
            if lengths.0 != lengths.1 { return lengths.0 < lengths.1 }
            return left.price != right.price ? left.price < right.price : left.id < right.id
        }
    }
}

extension Tenure.ProductTerms {
    fileprivate var rank: Int {
        switch kind {
        case .autoRenewable, .nonRenewing: period == nil ? 1 : 0
        case .nonConsumable: 2
        case .consumable: 3
        }
    }
}
