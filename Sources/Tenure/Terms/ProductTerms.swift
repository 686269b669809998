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
            let (leftDays, rightDays) = (left.period?.approximateDays ?? 0, right.period?.approximateDays ?? 0)
            if leftDays != rightDays { return leftDays < rightDays }
            return left.price != right.price ? left.price < right.price : left.id < right.id
        }
    }
}

/// Writes terms as text, in the customer's language.
extension Tenure.ProductTerms {
    /// Returns everything that the customer should know before paying, such as `3 days free, then $24.99 per year`.
    ///
    /// The words are in the language of the locale, or in English if Tenure has no words in that language. Foundation
    /// formats prices and numbers.
    ///
    /// - Parameter recurring: pass false to describe only one payment, `$24.99 for 1 year`, without later payments.
    public func text(in locale: Locale = .autoupdatingCurrent, recurring: Bool = true) -> String {
        let writer = TermsWriter(locale)
        let price = writer.price(of: self, recurring: recurring)
        guard let offer = writer.offer(of: self) else { return price }
        return fill(writer.words.then, ["offer": offer, "price": price])
    }

    /// Returns the price without the introductory offer, such as `$24.99 per year`.
    public func priceText(in locale: Locale = .autoupdatingCurrent, recurring: Bool = true) -> String {
        TermsWriter(locale).price(of: self, recurring: recurring)
    }

    /// Returns the introductory offer, such as `3 days free`. Nil if there is no offer.
    public func offerText(in locale: Locale = .autoupdatingCurrent) -> String? { TermsWriter(locale).offer(of: self) }

    /// Returns how long one payment lasts, such as `1 year`. Nil for products without an end.
    public func lengthText(in locale: Locale = .autoupdatingCurrent) -> String? {
        let writer = TermsWriter(locale)
        return period.map { writer.length($0, writer.words.length) }
    }

    /// Returns the price per month, such as `$2.08 per month`, to compare products of different lengths. Nil if
    /// `pricePerMonth` is nil.
    public func pricePerMonthText(in locale: Locale = .autoupdatingCurrent) -> String? {
        let writer = TermsWriter(locale)
        return pricePerMonth.map { fill(writer.words.per[.month], ["price": writer.money($0, of: self)]) }
    }
}

/// Combines the words of one language with prices and numbers that Foundation formats.
private struct TermsWriter {
    let locale: Locale
    let words: Wording

    init(_ locale: Locale) {
        self.locale = locale
        words = Wording(locale)
    }

    func money(_ amount: Decimal, of product: Tenure.ProductTerms) -> String {
        amount.formatted(.currency(code: product.currencyCode).locale(product.priceLocale ?? locale))
    }

    /// Returns the price without the introductory offer.
    func price(of product: Tenure.ProductTerms, recurring isRecurring: Bool) -> String {
        let price = money(product.price, of: product)
        switch (product.kind, product.period) {
        case (.autoRenewable, let period?) where isRecurring: return recurring(price, each: period)
        case (.autoRenewable, let period?), (.nonRenewing, let period?): return upFront(price, for: period)
        case (.nonConsumable, _): return fill(words.once, ["price": price])
        // The length of these products is unknown.
        case (.consumable, _), (.autoRenewable, nil), (.nonRenewing, nil): return price
        }
    }

    /// Returns the introductory offer. Nil if there is no offer.
    func offer(of product: Tenure.ProductTerms) -> String? {
        guard let offer = product.offer else { return nil }
        switch offer.payment {
        case .free: return fill(words.free, ["length": length(offer.length, words.length)])
        case .upFront(let amount): return upFront(money(amount, of: product), for: offer.length)
        // There is only one payment.
        case .asYouGo(let amount, let period) where period == offer.length:
            return upFront(money(amount, of: product), for: offer.length)
        case .asYouGo(let amount, let period):
            let price = recurring(money(amount, of: product), each: period)
            let length = length(offer.length, words.duringLength ?? words.length)
            return fill(words.during, ["price": price, "length": length])
        }
    }

    /// Returns a price that is paid once for a length, such as `$24.99 for 1 year`.
    private func upFront(_ price: String, for period: CalendarPeriod) -> String {
        fill(words.upFront, ["price": price, "length": length(period, words.upFrontLength ?? words.length)])
    }

    /// Returns a price that is paid in each period, such as `$24.99 per year` or `$9.99 every 3 months`.
    private func recurring(_ price: String, each period: CalendarPeriod) -> String {
        let parts = period.parts
        if parts.count == 1, let part = parts.first, part.count == 1 {
            return fill(words.per[part.unit], ["price": price])
        }
        return fill(words.every, ["price": price, "length": length(period, words.everyLength ?? words.length)])
    }

    /// Returns a length, such as `3 days`, `18 months`, or `1 month and 10 days`.
    func length(_ period: CalendarPeriod, _ units: Wording.Units) -> String {
        let texts = period.parts.map { part in
            // A language may list fewer forms than its rule has if all further forms are equal to the last listed form.
            let forms = units[part.unit].split(separator: "|").map { String($0) }
            let form = min(words.plurals.form(of: part.count), forms.count - 1)
            return fill(forms.indices.contains(form) ? forms[form] : "", ["n": number(part.count)])
        }
        return texts.count == 1 ? texts[0] : texts.formatted(.list(type: .and, width: .standard).locale(locale))
    }

    private func number(_ number: Int) -> String { number.formatted(.number.locale(locale)) }
}

extension CalendarPeriod {
    /// The length in one unit if possible, such as `2 weeks` or `1 year`; otherwise in months and days. Some versions
    /// of StoreKit describe a trial of one week as seven days, and others as one week. Both lengths give the same text.
    fileprivate var parts: [(count: Int, unit: LengthUnit)] {
        var parts: [(Int, LengthUnit)] = []
        if months > 0 { parts.append(months % 12 == 0 ? (months / 12, .year) : (months, .month)) }
        if days > 0 || months <= 0 {
            let days = max(days, 0)
            parts.append(days > 0 && days % 7 == 0 ? (days / 7, .week) : (days, .day))
        }
        return parts
    }
}

/// Replaces each name in braces with its value, as in `{price} per month`.
private func fill(_ pattern: String, _ values: [String: String]) -> String {
    var result = ""
    var rest = pattern[...]
    while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
        result += rest[..<start]
        result += values[String(rest[rest.index(after: start)..<end])] ?? ""
        rest = rest[rest.index(after: end)...]
    }
    return result + rest
}
