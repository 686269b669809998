import TenureAppStore
import TenureJSON

extension Transaction {
    /// The reason of a transaction: the customer bought the product, or the App Store renewed the subscription.
    public struct Reason: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let purchase = Reason(rawValue: "PURCHASE")
        public static let renewal = Reason(rawValue: "RENEWAL")
    }

    /// The reason why a transaction was refunded.
    public struct RevocationReason: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A refund because of an issue with the app.
        public static let developerIssue = RevocationReason(rawValue: 1)
        public static let other = RevocationReason(rawValue: 0)

        public var localizedDescription: String {
            self == .developerIssue ? "an issue in the app" : "another reason"
        }
    }

    /// The kind of offer of a purchase.
    public struct OfferType: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let introductory = OfferType(rawValue: 1)
        public static let promotional = OfferType(rawValue: 2)
        public static let code = OfferType(rawValue: 3)
        public static let winBack = OfferType(rawValue: 4)

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
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let purchased = OwnershipType(rawValue: "PURCHASED")
        public static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")

        public var localizedDescription: String { self == .familyShared ? "shared by the family" : "purchased" }
    }

    /// The offer of a purchase.
    public struct Offer: Equatable, Hashable, Sendable {
        public struct PaymentMode: RawRepresentable, Equatable, Hashable, Sendable {
            public let rawValue: String

            public init(rawValue: String) { self.rawValue = rawValue }

            public static let freeTrial = PaymentMode(rawValue: "FREE_TRIAL")
            public static let payAsYouGo = PaymentMode(rawValue: "PAY_AS_YOU_GO")
            public static let payUpFront = PaymentMode(rawValue: "PAY_UP_FRONT")
            public static let oneTime = PaymentMode(rawValue: "ONE_TIME")
        }

        /// The offer's ID; nil for an introductory offer.
        public let id: String?
        public let type: OfferType
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
