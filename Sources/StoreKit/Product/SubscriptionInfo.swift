public import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

extension Product {
    /// The information that only auto-renewable subscriptions have.
    public struct SubscriptionInfo: Equatable, Hashable, Sendable {
        /// The offer for customers who never subscribed in the group. Nil if there is no such offer.
        public let introductoryOffer: SubscriptionOffer?
        /// The offers for present and former subscribers. The developer's server decides which subscriber gets which
        /// offer.
        public let promotionalOffers: [SubscriptionOffer]
        /// The offers for former subscribers.
        public let winBackOffers: [SubscriptionOffer]
        /// The ID of the group. A customer can buy at most one subscription of a group. Family Sharing can add other
        /// subscriptions.
        public let subscriptionGroupID: String
        /// The length of a period at the regular price.
        public let subscriptionPeriod: SubscriptionPeriod
        /// The level of the subscription in its group. 1 is the highest.
        public let groupLevel: Int
        /// The name of the group: its ID, because a local App Store has no names.
        public let groupDisplayName: String

        /// Whether the customer is eligible for the introductory offer: they never subscribed in the group.
        public var isEligibleForIntroOffer: Bool {
            get async { await Self.isEligibleForIntroOffer(for: subscriptionGroupID) }
        }

        /// Whether the customer never subscribed in this group. False if the App Store was never reached.
        public static func isEligibleForIntroOffer(for groupID: String) async -> Bool {
            await LocalStore.current?.isEligibleForIntroOffer(groupID) ?? false
        }

        /// The statuses of the customer's subscriptions of the group: their own subscriptions, and subscriptions that
        /// the family shares. Throws a `StoreKitError` if the App Store can't be reached and was never reached before.
        public var status: [Status] { get async throws { try await Self.status(for: subscriptionGroupID) } }

        /// The statuses of the customer's subscriptions of this group. Throws as `status` does.
        public static func status(for groupID: String) async throws -> [Status] {
            try await LocalStore.required().statusesOrError().filter { $0.groupID == groupID }
        }

        /// The status of the subscription that a transaction belongs to; nil if there is no such subscription.
        public static func status(transactionID: UInt64) async throws -> Status? {
            let store = try LocalStore.required()
            let original = await store.transactions(.all).lazy.map(\.unsafePayloadValue)
                .first { $0.id == transactionID }?.originalID
            return try await store.statusesOrError().first { $0.originalID == original ?? transactionID }
        }

        init?(_ json: JSONObject, style: Decimal.FormatStyle.Currency) {
            guard let group = json.text("group"), let period = json.period("period") else { return nil }
            let offers = json.objects("offers").compactMap { Product.SubscriptionOffer($0, style: style) }
            introductoryOffer = offers.first { $0.type == .introductory }
            promotionalOffers = offers.filter { $0.type == .promotional }
            winBackOffers = offers.filter { $0.type == .winBack }
            subscriptionGroupID = group
            subscriptionPeriod = period
            groupLevel = json.integer("level") ?? 1
            groupDisplayName = group
        }
    }

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

/// Apple's short name for `Product.SubscriptionInfo`.
public typealias SubscriptionInfo = Product.SubscriptionInfo
/// Apple's short name for `Product.SubscriptionPeriod`.
public typealias SubscriptionPeriod = Product.SubscriptionPeriod
/// Apple's short name for `Product.SubscriptionInfo.RenewalInfo`.
public typealias SubscriptionRenewalInfo = Product.SubscriptionInfo.RenewalInfo
/// Apple's short name for `Product.SubscriptionInfo.RenewalState`.
public typealias SubscriptionRenewalState = Product.SubscriptionInfo.RenewalState
/// Apple's short name for `Product.SubscriptionInfo.Status`.
public typealias SubscriptionStatus = Product.SubscriptionInfo.Status

extension Product {
    /// An introductory, promotional or win-back offer for a subscription.
    public struct SubscriptionOffer: Equatable, Hashable, Sendable {
        /// Who may use an offer. `Transaction.OfferType` has a number for each of these types, and another number for
        /// offer codes.
        public struct OfferType: RawRepresentable, Equatable, Hashable, Sendable {
            /// A name such as `Introductory`. A transaction has a number instead.
            public let rawValue: String

            /// Accepts any text, because Apple may add types.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// For customers who never subscribed in the group.
            public static let introductory = OfferType(rawValue: "Introductory")
            /// For the present and former subscribers whom the developer chooses.
            public static let promotional = OfferType(rawValue: "Promotional")
            /// For former subscribers.
            public static let winBack = OfferType(rawValue: "WinBack")

            /// The raw value in English; Apple's text is localized.
            public var localizedDescription: String { rawValue }
        }

        /// How the customer pays for the offer.
        public struct PaymentMode: RawRepresentable, Equatable, Hashable, Sendable {
            /// A name such as `FreeTrial`. A transaction has another text for the same mode, `FREE_TRIAL`.
            public let rawValue: String

            /// Accepts any text, because Apple may add modes.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// `price` is due for each of `periodCount` periods.
            public static let payAsYouGo = PaymentMode(rawValue: "PayAsYouGo")
            /// `price` is due once for the whole offer.
            public static let payUpFront = PaymentMode(rawValue: "PayUpFront")
            /// Nothing is due; `price` is 0.
            public static let freeTrial = PaymentMode(rawValue: "FreeTrial")

            /// The raw value in English; Apple's text is localized.
            public var localizedDescription: String { rawValue }
        }

        /// The offer's ID; nil for an introductory offer.
        public let id: String?
        /// Who may use the offer: new, present or former subscribers.
        public let type: OfferType
        /// The price of each payment, in the currency of the customer's storefront.
        public let price: Decimal
        /// `price` as text in the format of the storefront.
        public let displayPrice: String
        /// The length of one period of the offer, which may differ from the subscription's.
        public let period: SubscriptionPeriod
        /// The number of periods. It is more than 1 only for an offer that is paid as you go.
        public let periodCount: Int
        /// Whether the offer is free, paid once or paid by period.
        public let paymentMode: PaymentMode

        /// The signature of a promotional offer by the developer's key. A local App Store doesn't check it.
        public struct Signature: Equatable, Hashable, Sendable {
            /// The ID of the developer's key in App Store Connect.
            public var keyID: String
            /// The random value that was signed with the offer.
            public var nonce: UUID
            /// The time of the signature, in milliseconds since 1970.
            public var timestamp: Int
            /// The ECDSA signature in DER. A local App Store accepts any bytes.
            public var signature: Data

            /// Accepts any values.
            public init(keyID: String, nonce: UUID, timestamp: Int, signature: Data) {
                self.keyID = keyID
                self.nonce = nonce
                self.timestamp = timestamp
                self.signature = signature
            }
        }

        private static let types: [Int: OfferType] = [1: .introductory, 2: .promotional, 4: .winBack]
        private static let paymentModes: [String: PaymentMode] = [
            "FREE_TRIAL": .freeTrial, "PAY_AS_YOU_GO": .payAsYouGo, "PAY_UP_FRONT": .payUpFront,
        ]

        /// Reads an offer; nil for offer codes, which no product lists, and for unreadable values.
        init?(_ json: JSONObject, style: Decimal.FormatStyle.Currency) {
            guard let price = json.amount("price"), let period = json.period("period"),
                let type = json.integer("type").flatMap({ Self.types[$0] }),
                let paymentMode = json.text("discount").flatMap({ Self.paymentModes[$0] })
            else { return nil }
            id = json.text("id")
            self.type = type
            self.paymentMode = paymentMode
            self.price = price
            displayPrice = price.formatted(style)
            self.period = period
            periodCount = paymentMode == .payAsYouGo ? max(1, json.integer("count") ?? 1) : 1
        }
    }
}
