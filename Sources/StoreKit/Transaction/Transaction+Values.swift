import TenureAppStore
import TenureJSON

extension Transaction {
    /// The reason of a transaction: the customer bought the product, or the App Store renewed the subscription.
    public struct Reason: RawRepresentable, Equatable, Hashable, Sendable {
        /// The payload's `transactionReason`, even if there is no constant for it.
        public let rawValue: String

        /// Accepts any text, because Apple may add reasons.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The customer bought the product, or changed the subscription's plan.
        public static let purchase = Reason(rawValue: "PURCHASE")
        /// The App Store renewed a subscription without the customer.
        public static let renewal = Reason(rawValue: "RENEWAL")
    }

    /// The reason why a transaction was refunded.
    public struct RevocationReason: RawRepresentable, Equatable, Hashable, Sendable {
        /// The payload's `revocationReason`, even if there is no constant for it.
        public let rawValue: Int

        /// Accepts any number, because Apple may add reasons.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A refund because of an issue with the app.
        public static let developerIssue = RevocationReason(rawValue: 1)
        /// Any other reason, such as a purchase by mistake.
        public static let other = RevocationReason(rawValue: 0)

        /// English text by this package; Apple's text is localized.
        public var localizedDescription: String { self == .developerIssue ? "an issue in the app" : "another reason" }
    }

    /// The kind of offer of a purchase.
    public struct OfferType: RawRepresentable, Equatable, Hashable, Sendable {
        /// The payload's `offerType`, even if there is no constant for it.
        public let rawValue: Int

        /// Accepts any number, because Apple may add kinds.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// For customers who never subscribed in the group.
        public static let introductory = OfferType(rawValue: 1)
        /// For the present and former subscribers whom the developer chooses.
        public static let promotional = OfferType(rawValue: 2)
        /// A code that the customer redeemed, which no `Product` lists.
        public static let code = OfferType(rawValue: 3)
        /// For former subscribers.
        public static let winBack = OfferType(rawValue: 4)

        /// English text by this package; Apple's text is localized.
        public var localizedDescription: String {
            switch self {
            case .introductory: "introductory offer"
            case .promotional: "promotional offer"
            case .code: "offer code"
            case .winBack: "win-back offer"
            default: "offer"
            }
        }
    }

    /// Whether the customer bought the product, or has it through Family Sharing.
    public struct OwnershipType: RawRepresentable, Equatable, Hashable, Sendable {
        /// The payload's `inAppOwnershipType`, even if there is no constant for it.
        public let rawValue: String

        /// Accepts any text, because Apple may add kinds.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The customer's own purchase.
        public static let purchased = OwnershipType(rawValue: "PURCHASED")
        /// A family member's purchase. It can be revoked when sharing ends.
        public static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")

        /// English text by this package; Apple's text is localized.
        public var localizedDescription: String { self == .familyShared ? "shared by the family" : "purchased" }
    }

    /// The reduced price or free trial with which a period was bought.
    public struct Offer: Equatable, Hashable, Sendable {
        /// How the customer pays for the offer.
        public struct PaymentMode: RawRepresentable, Equatable, Hashable, Sendable {
            /// The payload's `offerDiscountType`. `Product.SubscriptionOffer.PaymentMode` has other texts for the same
            /// modes.
            public let rawValue: String

            /// Accepts any text, because Apple may add modes.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The period costs nothing; the transaction's `price` is 0.
            public static let freeTrial = PaymentMode(rawValue: "FREE_TRIAL")
            /// A reduced price for each period of the offer.
            public static let payAsYouGo = PaymentMode(rawValue: "PAY_AS_YOU_GO")
            /// One payment for the whole offer.
            public static let payUpFront = PaymentMode(rawValue: "PAY_UP_FRONT")
            /// A reduced price for a product that isn't a subscription.
            public static let oneTime = PaymentMode(rawValue: "ONE_TIME")
        }

        /// The offer's ID; nil for an introductory offer.
        public let id: String?
        /// For whom the offer was.
        public let type: OfferType
        /// How the customer pays; nil if the payload doesn't say.
        public let paymentMode: PaymentMode?
        /// The length of the offer.
        public let period: Product.SubscriptionPeriod?
    }
}

extension Transaction.Offer {
    /// Reads an offer from the fields of a transaction or renewal info.
    init?(_ payload: JSONObject) {
        guard let type = payload.integer("offerType") else { return nil }
        id = payload.text("offerIdentifier")
        self.type = Transaction.OfferType(rawValue: type)
        paymentMode = payload.text("offerDiscountType").map { PaymentMode(rawValue: $0) }
        period = payload.text("offerPeriod").flatMap { Product.SubscriptionPeriod(iso8601: $0) }
    }
}
