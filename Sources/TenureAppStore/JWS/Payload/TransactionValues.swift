// The enumerations of fields in `TransactionPayload`.

/// The type of a product in App Store Connect.
public enum ProductType: String, Sendable, Hashable, CaseIterable {
    /// Renews until it is canceled. Grants until `expiresDate`, or to the end of a grace period.
    case autoRenewable = "Auto-Renewable Subscription"
    /// Bought once. Grants permanently, and can be shared with the family.
    case nonConsumable = "Non-Consumable"
    /// Bought again and again, such as coins. A consumable grants nothing (rule F1 of Docs/decision-rules.md).
    case consumable = "Consumable"
    /// Grants for a length that the App Store doesn't know: the policy states it.
    case nonRenewing = "Non-Renewing Subscription"
}

/// Whether the customer bought a product, or a family member shares it.
public enum OwnershipType: String, Sendable, Hashable, CaseIterable {
    /// The customer's own purchase.
    case purchased = "PURCHASED"
    /// Another member of the family bought the product.
    case familyShared = "FAMILY_SHARED"
}

/// Why Apple refunded a purchase.
public enum RevocationReason: Int64, Sendable, Hashable, CaseIterable {
    /// Any other reason, such as a purchase by mistake.
    case other = 0
    /// The customer reported an issue with the app, real or not.
    case issueInTheApp = 1
}

/// How a purchase was revoked: by a full or a partial refund, or by the end of Family Sharing.
public enum RevocationType: String, Sendable, Hashable, CaseIterable {
    /// The whole price was refunded.
    case refundFull = "REFUND_FULL"
    /// A part was refunded, as `revocationPercentage` says.
    case refundProrated = "REFUND_PRORATED"
    /// The purchaser stopped sharing, left the family, or got a refund.
    case familyRevoke = "FAMILY_REVOKE"
}

/// The kind of offer under which a product was bought.
public enum OfferType: Int64, Sendable, Hashable, CaseIterable {
    /// For customers who never subscribed in the group; configured in App Store Connect.
    case introductory = 1
    /// For present or former subscribers; the developer's server signs it.
    case promotional = 2
    /// A code that the customer redeemed.
    case offerCode = 3
    /// For former subscribers; configured in App Store Connect.
    case winBack = 4
}

/// How the customer pays for an offer.
public enum OfferDiscountType: String, Sendable, Hashable, CaseIterable {
    /// The customer pays nothing; the `price` is 0.
    case freeTrial = "FREE_TRIAL"
    /// The customer pays a reduced price in each period of the offer.
    case payAsYouGo = "PAY_AS_YOU_GO"
    /// The customer pays once for the whole length of the offer.
    case payUpFront = "PAY_UP_FRONT"
    /// The customer pays a reduced price for a product that isn't a subscription.
    case oneTime = "ONE_TIME"
}

/// Why a transaction was made.
public enum TransactionReason: String, Sendable, Hashable, CaseIterable {
    /// The customer bought the product, or changed the subscription.
    case purchase = "PURCHASE"
    /// The system renewed a subscription.
    case renewal = "RENEWAL"
}

/// Whether a subscription is billed once for its whole length, or every month.
public enum BillingPlanType: String, Sendable, Hashable, CaseIterable {
    /// One charge for the whole length.
    case billedUpfront = "BILLED_UPFRONT"
    /// One charge a month, with a commitment to several months: see `CommitmentInfo`.
    case monthly = "MONTHLY"
}
