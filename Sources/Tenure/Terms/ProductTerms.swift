public import Foundation
public import TenureCore

extension Tenure {
    /// A product's price, its length and its introductory offer, as the App Store sells it to this customer.
    ///
    /// Apps with their own prices, and tests, can create terms themselves.
    public struct ProductTerms: Sendable, Hashable {
        /// How the product is sold.
        public enum Kind: Sendable, Hashable {
            /// Bought once and kept permanently.
            case nonConsumable
            /// Bought any number of times and used up.
            case consumable
            /// Bought once for the length that the policy specifies.
            case nonRenewing
            /// Renewed after each `period`.
            case autoRenewable
        }

        /// An introductory offer: what a new subscriber pays at first.
        public struct Offer: Sendable, Hashable {
            /// How the customer pays for an offer.
            public enum Payment: Sendable, Hashable {
                /// Nothing is due for the whole `length`.
                case free
                /// One payment for the whole `length`.
                case upFront(Decimal)
                /// A payment for each `period` during `length`.
                case asYouGo(Decimal, period: CalendarPeriod)
            }

            /// How the customer pays.
            public let payment: Payment
            /// How long the offer lasts.
            public let length: CalendarPeriod

            /// Creates an offer from its whole length.
            public init(_ payment: Payment, for length: CalendarPeriod) {
                self.payment = payment
                self.length = length
            }

            /// Creates an offer from a period and the number of periods, as StoreKit describes it.
            public init(_ payment: Payment, period: CalendarPeriod, count: Int) {
                self.init(payment, for: period.times(count))
            }
        }

        /// The product ID in App Store Connect.
        public let id: String
        /// How the product is sold.
        public let kind: Kind
        /// The price of one purchase or one period, in the unit of `currencyCode`.
        public let price: Decimal
        /// The currency as in ISO 4217, such as `USD`.
        public let currencyCode: String
        /// The format of prices in the customer's storefront. Nil to format prices as the text's language does.
        public let priceLocale: Locale?
        /// The length of one purchase or one subscription period; nil for products without an end.
        public let period: CalendarPeriod?
        /// The introductory offer. Nil if the product has no offer, or if this customer may not use it.
        public let offer: Offer?

        /// Creates terms for a product with your own prices.
        ///
        /// - Parameter period: required for `nonRenewing` and `autoRenewable`.
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

        /// The price per month; nil for products without a period. A month is a twelfth of a year's days.
        public var pricePerMonth: Decimal? {
            guard let period, kind == .autoRenewable || kind == .nonRenewing else { return nil }
            if period.days == 0, period.months > 0 { return price / Decimal(period.months) }
            let days = period.approximateDays
            return days > 0 ? price * Self.daysPerMonth / days : nil
        }

        /// The Gregorian calendar repeats itself after 400 years, which have 146,097 days and 4,800 months.
        static let daysPerMonth = Decimal(146_097) / Decimal(4800)

        /// The place of the kind in `sortedByPeriod`.
        fileprivate var rank: Int {
            switch kind {
            case .autoRenewable, .nonRenewing: period == nil ? 1 : 0
            case .nonConsumable: 2
            case .consumable: 3
            }
        }
    }
}

extension CalendarPeriod {
    /// The length in days, if a month has its average length.
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
