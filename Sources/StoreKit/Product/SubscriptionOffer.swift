public import Foundation
import TenureJSON

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
