public import Foundation
import TenureAppStore
import TenureJSON

extension Product.SubscriptionInfo {
    /// The App Store's signed information about the next renewal of a subscription.
    ///
    /// Two renewal infos with the same content differ if they were signed at different times.
    public struct RenewalInfo: SignedValue, Equatable, Hashable, CustomDebugStringConvertible, Sendable {
        let signedText: SignedText

        /// The JSON that the App Store signed: the payload of the JSON Web Signature (JWS).
        public var jsonRepresentation: Data { signedText.payloadData }
        /// The payload as JSON.
        public var debugDescription: String { signedText.payloadText }
        /// The ID of the subscription, which all its transactions have as `originalID`.
        public let originalTransactionID: UInt64
        /// The `AppTransaction.appTransactionID` of the same customer; empty if the payload lacks it.
        public let appTransactionID: String
        /// The ID of the current product, or of the last product after the subscription ended.
        public let currentProductID: String
        /// False if the customer or the App Store switched renewal off.
        public let willAutoRenew: Bool
        /// The ID of the product from the next renewal on. Nil if the subscription doesn't renew.
        public let autoRenewPreference: String?
        /// Why the subscription expired or couldn't be renewed; nil otherwise.
        public let expirationReason: ExpirationReason?
        /// Whether the price increases at the next renewal, and whether the customer has agreed.
        public let priceIncreaseStatus: PriceIncreaseStatus
        /// Whether the App Store still tries to charge a failed renewal. True in the grace period, too.
        public let isInBillingRetry: Bool
        /// The date until which the customer keeps access although the renewal couldn't be charged. Nil without such a
        /// grace period.
        public let gracePeriodExpirationDate: Date?
        /// The offer under which the next period renews; nil for the full price.
        public let offer: Transaction.Offer?
        /// The environment of the local App Store: production or the sandbox.
        public let environment: AppStore.Environment
        /// The date at which the subscription began, ignoring gaps of up to 60 days.
        public let recentSubscriptionStartDate: Date
        /// The start of the next period.
        public let renewalDate: Date?
        /// The price of the next period, in `currency`; nil if the subscription doesn't renew.
        public let renewalPrice: Decimal?
        /// The currency of `renewalPrice`; nil if the subscription doesn't renew.
        public let currency: Locale.Currency?
        /// The IDs of win-back offers for which the customer is eligible, the best offer first.
        public let eligibleWinBackOfferIDs: [String]
        /// The token that the app set at the latest purchase; nil if it set none.
        public let appAccountToken: UUID?
        /// The SHA-384 hash (48 bytes) of two UUIDs in lower case: the nonce, then `AppStore.deviceVerificationID`.
        public let deviceVerification: Data
        /// The UUID that was hashed with the device ID. Unlike Apple's nonce, it isn't random, so that tests are
        /// repeatable.
        public let deviceVerificationNonce: UUID
        /// The local App Store's time when it signed this renewal info.
        public let signedDate: Date

        /// The older form of `offer?.id`.
        public var offerID: String? { offer?.id }
        /// The older form of `offer?.type`.
        public var offerType: Transaction.OfferType? { offer?.type }
        /// `offer?.paymentMode` as in the payload, such as `FREE_TRIAL`.
        public var offerPaymentModeStringRepresentation: String? { offer?.paymentMode?.rawValue }
        /// The length of the offer as in the payload, such as `P1M`.
        public var offerPeriodStringRepresentation: String? { signedText.payload.text("offerPeriod") }
        /// The older form of `environment`, such as `Sandbox`.
        public var environmentStringRepresentation: String { environment.rawValue }
        /// The older form of `currency`, such as `EUR`.
        public var currencyCode: String? { signedText.payload.text("currency") }

        init?(_ signed: SignedText) {
            let payload = signed.payload
            guard let originalID = payload.text("originalTransactionId").flatMap(UInt64.init),
                let product = payload.text("productId"), let status = payload.integer("autoRenewStatus"),
                let environment = payload.text("environment"), let signedDate = payload.date("signedDate"),
                let device = DeviceBinding(payload)
            else { return nil }
            self.signedText = signed
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

        /// Why a subscription ended, or didn't renew.
        public struct ExpirationReason: RawRepresentable, Equatable, Hashable, Sendable {
            /// The payload's `expirationIntent`, even if there is no constant for it.
            public let rawValue: Int

            /// Accepts any number, because Apple may add reasons.
            public init(rawValue: Int) { self.rawValue = rawValue }

            /// The customer had switched renewal off.
            public static let autoRenewDisabled = ExpirationReason(rawValue: 1)
            /// The charge failed. Also set during billing retry and the grace period, while the subscription may
            /// recover.
            public static let billingError = ExpirationReason(rawValue: 2)
            /// The customer didn't agree to a higher price.
            public static let didNotConsentToPriceIncrease = ExpirationReason(rawValue: 3)
            /// The product was no longer sold at the renewal.
            public static let productUnavailable = ExpirationReason(rawValue: 4)
            /// A reason that isn't in the App Store's list.
            public static let unknown = ExpirationReason(rawValue: 5)

            /// English text by this package; Apple's text is localized.
            public var localizedDescription: String {
                switch self {
                case .autoRenewDisabled: "automatic renewal was switched off"
                case .billingError: "the renewal couldn't be charged"
                case .didNotConsentToPriceIncrease: "the higher price wasn't accepted"
                case .productUnavailable: "the product is no longer sold"
                default: "unknown"
                }
            }
        }

        /// Whether the customer has agreed to a higher price.
        @frozen public enum PriceIncreaseStatus: Equatable, Hashable, Sendable {
            /// The payload has no `priceIncreaseStatus`.
            case noIncreasePending
            /// The customer hasn't answered yet.
            case pending
            /// The customer agreed, or the increase needs no consent.
            case agreed

            /// English text by this package; Apple's text is localized.
            public var localizedDescription: String {
                switch self {
                case .noIncreasePending: "no price increase"
                case .pending: "waiting for consent"
                case .agreed: "agreed"
                }
            }
        }
    }
}
