/// Why an item has a discount.
public enum AdvancedCommerceOfferReason: String, Sendable, Hashable, CaseIterable {
    /// To gain a new customer.
    case acquisition = "ACQUISITION"
    /// To gain a former customer again.
    case winBack = "WIN_BACK"
    /// To keep a customer who may leave.
    case retention = "RETENTION"
}

/// Why an item was refunded.
public enum AdvancedCommerceRefundReason: String, Sendable, Hashable, CaseIterable {
    /// The customer didn't mean to buy.
    case unintendedPurchase = "UNINTENDED_PURCHASE"
    /// The customer didn't get what was bought, or couldn't use it.
    case fulfillmentIssue = "FULFILLMENT_ISSUE"
    /// The customer didn't like the product.
    case unsatisfiedWithPurchase = "UNSATISFIED_WITH_PURCHASE"
    /// A legal reason, such as a right of withdrawal.
    case legal = "LEGAL"
    /// A reason that Apple's list doesn't have.
    case other = "OTHER"
    /// The developer changed the items of a running subscription.
    case modifyItemsRefund = "MODIFY_ITEMS_REFUND"
    /// For tests in Sandbox: Apple acts as if it declined the refund.
    case simulateRefundDecline = "SIMULATE_REFUND_DECLINE"
}

/// How much of an item was refunded.
public enum AdvancedCommerceRefundType: String, Sendable, Hashable, CaseIterable {
    /// The item's whole price.
    case full = "FULL"
    /// The price of the unused time.
    case prorated = "PRORATED"
    /// The amount that the developer requested.
    case custom = "CUSTOM"
}

/// Whether the customer accepted an item's price increase.
public enum AdvancedCommercePriceIncreaseStatus: String, Sendable, Hashable, CaseIterable {
    /// The increase is planned. Apple documents only the names of these values.
    case scheduled = "SCHEDULED"
    /// The increase waits for the customer's consent.
    case pending = "PENDING"
    /// The item renews at the new price.
    case accepted = "ACCEPTED"
}
