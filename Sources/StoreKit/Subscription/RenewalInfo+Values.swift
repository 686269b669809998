extension Product.SubscriptionInfo.RenewalInfo {
    /// Why a subscription ended, or didn't renew.
    public struct ExpirationReason: RawRepresentable, Equatable, Hashable, Sendable {
        /// The payload's `expirationIntent`, even if there is no constant for it.
        public let rawValue: Int

        /// Accepts any number, because Apple may add reasons.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The customer had switched renewal off.
        public static let autoRenewDisabled = ExpirationReason(rawValue: 1)
        /// The charge failed. Also set during billing retry and the grace period, while the subscription may recover.
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
