public enum AutoRenewStatus: Int64, Sendable, Hashable, CaseIterable {
    case off = 0
    case on = 1
}

public enum ExpirationIntent: Int64, Sendable, Hashable, CaseIterable {
    case customerCancelled = 1
    case billingError = 2
    case priceIncreaseNotAccepted = 3
    case productUnavailable = 4
    case other = 5
}

public enum PriceIncreaseStatus: Int64, Sendable, Hashable, CaseIterable {
    case notYetAnswered = 0
    case accepted = 1
}

public enum SubscriptionStatus: Int64, Sendable, Hashable, CaseIterable {
    case active = 1
    case expired = 2
    case billingRetry = 3
    case gracePeriod = 4
    case revoked = 5
}
