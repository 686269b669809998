public import Foundation
import TenureAppStore
import TenureJSON

/// One purchase of a product, or one period of a subscription, signed by the App Store.
///
/// Two transactions with the same content differ if they were signed at different times.
public struct Transaction: SignedValue, Identifiable, Equatable, Hashable, CustomDebugStringConvertible, Sendable {
    let signedText: SignedText

    /// The JSON that the App Store signed: the payload of the JSON Web Signature (JWS).
    public var jsonRepresentation: Data { signedText.payloadData }
    /// The payload as JSON.
    public var debugDescription: String { signedText.payloadText }
    /// The ID of this purchase or period. A restored purchase keeps this ID.
    public let id: UInt64
    /// The ID of the subscription's first transaction; for other purchases, the ID of this transaction.
    public let originalID: UInt64
    /// The `AppTransaction.appTransactionID` of the same customer; empty if the payload lacks it.
    public let appTransactionID: String
    /// The ID of one period of a subscription; nil for other products.
    public let webOrderLineItemID: String?
    /// The product's ID in App Store Connect.
    public let productID: String
    /// The product's type when the transaction was signed.
    public let productType: Product.ProductType
    /// The group of the subscription; nil for other products.
    public let subscriptionGroupID: String?
    /// The bundle ID of the app for which the App Store signed this transaction. Verification compares it with the app
    /// on the device.
    public let appBundleID: String
    /// The purchase date. For a renewal it is the beginning of its period, which may be a little in the future.
    public let purchaseDate: Date
    /// The beginning of the subscription's first period; for other products, the same as `purchaseDate`.
    public let originalPurchaseDate: Date
    /// The end of the period; nil except for auto-renewable subscriptions.
    public let expirationDate: Date?
    /// How many of the product were bought, from 1 to 10; more than 1 only for consumables and non-renewing
    /// subscriptions.
    public let purchasedQuantity: Int
    /// Whether a subscription of a higher level replaced this subscription, which then grants nothing.
    public let isUpgraded: Bool
    /// The offer under which this period was bought; nil for the full price.
    public let offer: Offer?
    /// The date at which the purchase was refunded, or no longer shared with the family. Nil if neither happened.
    public let revocationDate: Date?
    /// Why the purchase was refunded. Also set when the family stops sharing.
    public let revocationReason: RevocationReason?
    /// The token that the app set at the purchase; nil if it set none.
    public let appAccountToken: UUID?
    /// The environment of the local App Store: production or the sandbox.
    public let environment: AppStore.Environment
    /// Whether the customer bought the product, or the App Store renewed the subscription.
    public let reason: Reason
    /// The App Store of the country in which the product was bought, even if the customer has moved since.
    public let storefront: Storefront
    /// The price of all purchased units together, in `currency`.
    public let price: Decimal?
    /// The currency of `price` and of `storefront`.
    public let currency: Locale.Currency?
    /// Whether the purchase is the customer's own, or a family member's.
    public let ownershipType: OwnershipType
    /// The SHA-384 hash (48 bytes) of two UUIDs in lower case: the nonce, then `AppStore.deviceVerificationID`.
    public let deviceVerification: Data
    /// The UUID that was hashed with the device ID. Unlike Apple's nonce, it isn't random, so that tests are
    /// repeatable.
    public let deviceVerificationNonce: UUID
    /// The local App Store's time when it signed this transaction.
    public let signedDate: Date

    /// The older form of `offer?.type`.
    public var offerType: OfferType? { offer?.type }
    /// The older form of `offer?.id`.
    public var offerID: String? { offer?.id }
    /// `offer?.paymentMode` as in the payload, such as `FREE_TRIAL`.
    public var offerPaymentModeStringRepresentation: String? { offer?.paymentMode?.rawValue }
    /// The length of the offer as in the payload, such as `P1M`.
    public var offerPeriodStringRepresentation: String? { signedText.payload.text("offerPeriod") }
    /// The older form of `environment`, such as `Sandbox`.
    public var environmentStringRepresentation: String { environment.rawValue }
    /// The older form of `reason`, such as `RENEWAL`.
    public var reasonStringRepresentation: String { reason.rawValue }
    /// The older form of `storefront.countryCode`.
    public var storefrontCountryCode: String { storefront.countryCode }
    /// The older form of `currency`, such as `EUR`.
    public var currencyCode: String? { signedText.payload.text("currency") }

    /// The status of the subscription, with its latest transaction; nil for other products.
    public var subscriptionStatus: Product.SubscriptionInfo.Status? {
        get async {
            guard productType == .autoRenewable else { return nil }
            return await LocalStore.current?.statuses().first { $0.originalID == originalID }
        }
    }

    /// Tells the App Store that the app has delivered the purchase, so it is no longer among the `unfinished`. While
    /// the App Store can't be reached, the device stores the delivery, and reports it later.
    public func finish() async { await LocalStore.current?.finish(self) }

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

        /// Reads an offer from the fields of a transaction or renewal info.
        init?(_ payload: JSONObject) {
            guard let type = payload.integer("offerType") else { return nil }
            id = payload.text("offerIdentifier")
            self.type = Transaction.OfferType(rawValue: type)
            paymentMode = payload.text("offerDiscountType").map { PaymentMode(rawValue: $0) }
            period = payload.period("offerPeriod")
        }
    }

    init?(_ signed: SignedText) {
        let payload = signed.payload
        guard let id = payload.text("transactionId").flatMap(UInt64.init), let productID = payload.text("productId"),
            let type = payload.text("type"), let bundleID = payload.text("bundleId"),
            let purchaseDate = payload.date("purchaseDate"), let environment = payload.text("environment"),
            let ownership = payload.text("inAppOwnershipType"), let signedDate = payload.date("signedDate"),
            let country = payload.text("storefront"), let device = DeviceBinding(payload)
        else { return nil }
        self.signedText = signed
        self.id = id
        originalID = payload.text("originalTransactionId").flatMap(UInt64.init) ?? id
        appTransactionID = payload.text("appTransactionId") ?? ""
        webOrderLineItemID = payload.text("webOrderLineItemId")
        self.productID = productID
        productType = Product.ProductType(rawValue: type)
        subscriptionGroupID = payload.text("subscriptionGroupIdentifier")
        appBundleID = bundleID
        self.purchaseDate = purchaseDate
        originalPurchaseDate = payload.date("originalPurchaseDate") ?? purchaseDate
        expirationDate = payload.date("expiresDate")
        purchasedQuantity = payload.integer("quantity") ?? 1
        isUpgraded = payload.flag("isUpgraded") ?? false
        offer = Offer(payload)
        revocationDate = payload.date("revocationDate")
        revocationReason = payload.integer("revocationReason").map { RevocationReason(rawValue: $0) }
        appAccountToken = payload.uuid("appAccountToken")
        self.environment = AppStore.Environment(rawValue: environment)
        reason = Reason(rawValue: payload.text("transactionReason") ?? Reason.purchase.rawValue)
        currency = payload.text("currency").map { Locale.Currency($0) }
        storefront = Storefront(
            code: country, id: payload.text("storefrontId") ?? "", currency: payload.text("currency"))
        price = payload.amount("price")
        ownershipType = OwnershipType(rawValue: ownership)
        deviceVerification = device.hash
        deviceVerificationNonce = device.nonce
        self.signedDate = signedDate
    }

    static func verify(_ jws: [UInt8], by verifier: AppStoreVerifier) throws(Rejection) -> DeviceVerification? {
        try verifier.verifyTransaction(jws, now: nil).payload.deviceBinding()
    }
}
