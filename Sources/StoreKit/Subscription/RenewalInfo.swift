public import Foundation
import TenureAppStore

extension Product.SubscriptionInfo {
    /// The App Store's signed information about the next renewal of a subscription.
    public struct RenewalInfo: Sendable {
        let signed: SignedText

        /// The payload of the JWS, as the App Store wrote it.
        public var jsonRepresentation: Data { signed.payloadData }
        public let originalTransactionID: UInt64
        public let appTransactionID: String
        /// The ID of the current product, or of the last one after the subscription ended.
        public let currentProductID: String
        public let willAutoRenew: Bool
        /// The ID of the product from the next renewal on. Nil if the subscription doesn't renew.
        public let autoRenewPreference: String?
        /// The reason why the subscription expired; nil while it runs.
        public let expirationReason: ExpirationReason?
        public let priceIncreaseStatus: PriceIncreaseStatus
        public let isInBillingRetry: Bool
        /// The date until which the customer keeps access although the renewal couldn't be charged.
        public let gracePeriodExpirationDate: Date?
        /// The offer of the next period.
        public let offer: Transaction.Offer?
        public let environment: AppStore.Environment
        /// The date at which the subscription began, ignoring gaps of up to 60 days.
        public let recentSubscriptionStartDate: Date
        /// The start of the next period.
        public let renewalDate: Date?
        /// The price of the next period, in `currency`; nil if it doesn't renew.
        public let renewalPrice: Decimal?
        public let currency: Locale.Currency?
        /// The IDs of win-back offers for which the customer is eligible, the best one first.
        public let eligibleWinBackOfferIDs: [String]
        public let appAccountToken: UUID?
        /// SHA-384 of the nonce and `AppStore.deviceVerificationID`, as lower-case text; 48 bytes.
        public let deviceVerification: Data
        public let deviceVerificationNonce: UUID
        public let signedDate: Date

        public var offerID: String? { offer?.id }
        public var offerType: Transaction.OfferType? { offer?.type }
        public var offerPaymentModeStringRepresentation: String? { offer?.paymentMode?.rawValue }
        public var offerPeriodStringRepresentation: String? { signed.payload.text("offerPeriod") }
        public var environmentStringRepresentation: String { environment.rawValue }
        public var currencyCode: String? { signed.payload.text("currency") }
    }
}

extension Product.SubscriptionInfo.RenewalInfo: SignedValue {
    init?(_ signed: SignedText) {
        let payload = signed.payload
        guard let originalID = payload.text("originalTransactionId").flatMap(UInt64.init),
            let product = payload.text("productId"), let status = payload.integer("autoRenewStatus"),
            let environment = payload.text("environment"), let signedDate = payload.date("signedDate"),
            let device = DeviceBinding(payload)
        else { return nil }
        self.signed = signed
        originalTransactionID = originalID
        appTransactionID = payload.text("appTransactionId") ?? ""
        currentProductID = product
        willAutoRenew = status == 1
        autoRenewPreference = status == 1 ? payload.text("autoRenewProductId") : nil
        expirationReason = payload.integer("expirationIntent").map { ExpirationReason(rawValue: $0) }
        priceIncreaseStatus =
            switch payload.integer("priceIncreaseStatus") {
            case 0: .pending
            case 1: .agreed
            default: .noIncreasePending
            }
        isInBillingRetry = payload.flag("isInBillingRetryPeriod") ?? false
        gracePeriodExpirationDate = payload.date("gracePeriodExpiresDate")
        offer = Transaction.Offer(payload)
        self.environment = AppStore.Environment(rawValue: environment)
        recentSubscriptionStartDate = payload.date("recentSubscriptionStartDate") ?? .distantPast
        renewalDate = payload.date("renewalDate")
        renewalPrice = payload.amount("renewalPrice")
        currency = payload.text("currency").map { Locale.Currency($0) }
        eligibleWinBackOfferIDs = payload.texts("eligibleWinBackOfferIds")
        appAccountToken = payload.uuid("appAccountToken")
        deviceVerification = device.hash
        deviceVerificationNonce = device.nonce
        self.signedDate = signedDate
    }

    static func verify(_ jws: [UInt8], by verifier: AppStoreVerifier) throws(Rejection) -> DeviceVerification? {
        try verifier.verifyRenewalInfo(jws, now: nil).payload.deviceBinding()
    }
}

extension Product.SubscriptionInfo.RenewalInfo: Equatable, Hashable, CustomDebugStringConvertible {
    public static func == (left: Self, right: Self) -> Bool { left.signed == right.signed }
    public func hash(into hasher: inout Hasher) { hasher.combine(signed) }
    public var debugDescription: String { signed.payloadText }
}
