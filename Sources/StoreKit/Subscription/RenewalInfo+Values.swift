extension Product.SubscriptionInfo.RenewalInfo {
    /// Why a subscription ended, or didn't renew.
    public struct ExpirationReason: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let autoRenewDisabled = ExpirationReason(rawValue: 1)
        public static let billingError = ExpirationReason(rawValue: 2)
        public static let didNotConsentToPriceIncrease = ExpirationReason(rawValue: 3)
        public static let productUnavailable = ExpirationReason(rawValue: 4)
        public static let unknown = ExpirationReason(rawValue: 5)

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
        case noIncreasePending
        /// The customer hasn't answered yet.
        case pending
        case agreed

        public var localizedDescription: String {
            switch self {
            case .noIncreasePending: "no price increase"
            case .pending: "waiting for consent"
            case .agreed: "agreed"
            }
        }
    }
}
