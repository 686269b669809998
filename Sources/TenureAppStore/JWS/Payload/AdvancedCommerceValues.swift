/// Why an item has a discount.
public enum AdvancedCommerceOfferReason: String, Sendable, Hashable, CaseIterable {
    case acquisition = "ACQUISITION"
    case winBack = "WIN_BACK"
    case retention = "RETENTION"
}

/// Why an item was refunded.
public enum AdvancedCommerceRefundReason: String, Sendable, Hashable, CaseIterable {
    case unintendedPurchase = "UNINTENDED_PURCHASE"
    case fulfillmentIssue = "FULFILLMENT_ISSUE"
    case unsatisfiedWithPurchase = "UNSATISFIED_WITH_PURCHASE"
    case legal = "LEGAL"
    case other = "OTHER"
    case modifyItemsRefund = "MODIFY_ITEMS_REFUND"
    case simulateRefundDecline = "SIMULATE_REFUND_DECLINE"
}

/// How much of an item was refunded.
public enum AdvancedCommerceRefundType: String, Sendable, Hashable, CaseIterable {
    case full = "FULL"
    case prorated = "PRORATED"
    case custom = "CUSTOM"
}

/// Whether the customer accepted an item's price increase.
public enum AdvancedCommercePriceIncreaseStatus: String, Sendable, Hashable, CaseIterable {
    case scheduled = "SCHEDULED"
    case pending = "PENDING"
    case accepted = "ACCEPTED"
}
