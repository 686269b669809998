/// The type of a product in App Store Connect.
public enum ProductType: String, Sendable, Hashable, CaseIterable {
    case autoRenewable = "Auto-Renewable Subscription"
    case nonConsumable = "Non-Consumable"
    case consumable = "Consumable"
    case nonRenewing = "Non-Renewing Subscription"
}

/// Whether the customer bought a product, or a family member shares it.
public enum OwnershipType: String, Sendable, Hashable, CaseIterable {
    case purchased = "PURCHASED"
    case familyShared = "FAMILY_SHARED"
}

/// Why Apple refunded a purchase.
public enum RevocationReason: Int64, Sendable, Hashable, CaseIterable {
    case other = 0
    case issueInTheApp = 1
}

/// How a purchase was revoked: by a full or a partial refund, or by the end of Family Sharing.
public enum RevocationType: String, Sendable, Hashable, CaseIterable {
    case refundFull = "REFUND_FULL"
    case refundProrated = "REFUND_PRORATED"
    case familyRevoke = "FAMILY_REVOKE"
}

/// The kind of offer under which a product was bought.
public enum OfferType: Int64, Sendable, Hashable, CaseIterable {
    case introductory = 1
    case promotional = 2
    case offerCode = 3
    case winBack = 4
}

/// How the customer pays for an offer.
public enum OfferDiscountType: String, Sendable, Hashable, CaseIterable {
    case freeTrial = "FREE_TRIAL"
    case payAsYouGo = "PAY_AS_YOU_GO"
    case payUpFront = "PAY_UP_FRONT"
    case oneTime = "ONE_TIME"
}

/// Why a transaction was made.
public enum TransactionReason: String, Sendable, Hashable, CaseIterable {
    case purchase = "PURCHASE"
    /// The system renewed a subscription.
    case renewal = "RENEWAL"
}

/// Whether a subscription is billed once for its whole length, or every month.
public enum BillingPlanType: String, Sendable, Hashable, CaseIterable {
    case billedUpfront = "BILLED_UPFRONT"
    case monthly = "MONTHLY"
}
