extension Product.SubscriptionInfo {
    /// The state of a subscription. Only `subscribed` and `inGracePeriod` entitle the customer.
    public struct RenewalState: RawRepresentable, Equatable, Hashable, Sendable {
        /// The number that the App Store's server notifications have as `status`, even if there is no constant for it.
        public let rawValue: Int

        /// Accepts any number, because Apple may add states.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The current period runs, even if it won't renew.
        public static let subscribed = RenewalState(rawValue: 1)
        /// The last period has ended, and the App Store doesn't try to charge.
        public static let expired = RenewalState(rawValue: 2)
        /// The renewal couldn't be charged, and access has ended.
        public static let inBillingRetryPeriod = RenewalState(rawValue: 3)
        /// The renewal couldn't be charged, and access continues for a while.
        public static let inGracePeriod = RenewalState(rawValue: 4)
        /// The current period was refunded, or is no longer shared by the family.
        public static let revoked = RenewalState(rawValue: 5)

        /// English text by this package; Apple's text is localized.
        public var localizedDescription: String {
            switch self {
            case .subscribed: "subscribed"
            case .expired: "expired"
            case .inBillingRetryPeriod: "in billing retry period"
            case .inGracePeriod: "in grace period"
            case .revoked: "revoked"
            default: "unknown"
            }
        }
    }
}
