/// Whether a subscription renews at the end of its period.
public enum AutoRenewStatus: Int64, Sendable, Hashable, CaseIterable {
    case off = 0
    case on = 1
}

/// Why a subscription expired.
public enum ExpirationIntent: Int64, Sendable, Hashable, CaseIterable {
    case customerCancelled = 1
    case billingError = 2
    case priceIncreaseNotAccepted = 3
    case productUnavailable = 4
    case other = 5
}

/// Whether the customer accepted a price increase.
public enum PriceIncreaseStatus: Int64, Sendable, Hashable, CaseIterable {
    case notYetAnswered = 0
    case accepted = 1
}

/// The state of a subscription, as notifications and the App Store Server API report it.
public enum SubscriptionStatus: Int64, Sendable, Hashable, CaseIterable {
    case active = 1
    case expired = 2
    case billingRetry = 3
    case gracePeriod = 4
    case revoked = 5
}
