public import Foundation
import TenureAppStore
import TenureJSON

extension Product {
    /// An introductory, promotional or win-back offer for a subscription.
    public struct SubscriptionOffer: Equatable, Hashable, Sendable {
        public struct OfferType: RawRepresentable, Equatable, Hashable, Sendable {
            public let rawValue: String

            public init(rawValue: String) { self.rawValue = rawValue }

            public static let introductory = OfferType(rawValue: "Introductory")
            public static let promotional = OfferType(rawValue: "Promotional")
            public static let winBack = OfferType(rawValue: "WinBack")

            public var localizedDescription: String { rawValue }
        }

        public struct PaymentMode: RawRepresentable, Equatable, Hashable, Sendable {
            public let rawValue: String

            public init(rawValue: String) { self.rawValue = rawValue }

            public static let payAsYouGo = PaymentMode(rawValue: "PayAsYouGo")
            public static let payUpFront = PaymentMode(rawValue: "PayUpFront")
            public static let freeTrial = PaymentMode(rawValue: "FreeTrial")

            public var localizedDescription: String { rawValue }
        }

        /// The offer's ID; nil for an introductory offer.
        public let id: String?
        public let type: OfferType
        /// The price of each payment, in the currency of the customer's storefront.
        public let price: Decimal
        public let displayPrice: String
        public let period: SubscriptionPeriod
        /// The number of periods. It is more than 1 only for an offer that is paid as you go.
        public let periodCount: Int
        public let paymentMode: PaymentMode

        /// The signature of a promotional offer by the developer's key. A local App Store doesn't check it.
        public struct Signature: Equatable, Hashable, Sendable {
            public var keyID: String
            public var nonce: UUID
            /// The time of the signature, in milliseconds since 1970.
            public var timestamp: Int
            public var signature: Data

            public init(keyID: String, nonce: UUID, timestamp: Int, signature: Data) {
                self.keyID = keyID
                self.nonce = nonce
                self.timestamp = timestamp
                self.signature = signature
            }
        }
    }
}

extension Product.SubscriptionOffer {
    private static let types: [Int: OfferType] = [1: .introductory, 2: .promotional, 4: .winBack]
    private static let paymentModes: [String: PaymentMode] = [
        "FREE_TRIAL": .freeTrial, "PAY_AS_YOU_GO": .payAsYouGo, "PAY_UP_FRONT": .payUpFront,
    ]

    /// Reads an offer; nil for offer codes, which no product lists, and for unreadable values.
    init?(_ json: JSONObject, style: Decimal.FormatStyle.Currency) {
        guard let price = json.amount("price"), let period = json.text("period"),
            let period = Product.SubscriptionPeriod(iso8601: period),
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
