public import Foundation

/// Information of the Advanced Commerce API in a transaction or in renewal info. With this API of Apple, a developer's
/// server defines the items of a purchase, instead of App Store Connect.
public struct AdvancedCommerceInfo: Sendable, Hashable, FieldObject {
    /// Apple's consistency token of the subscription. Only in renewal info.
    public let consistencyToken: String?
    /// The name and the description of the product.
    public let descriptors: AdvancedCommerceDescriptors?
    /// The estimated tax, in thousandths of the currency's unit.
    public let estimatedTax: Int64?
    /// What the purchase consists of.
    public let items: [AdvancedCommerceItem]?
    /// The length of a subscription period, as an ISO 8601 duration.
    public let period: String?
    /// The UUID that the developer's server passed to Apple in its request.
    public let requestReferenceID: String?
    /// Apple's tax category.
    public let taxCode: String?
    /// The price without tax, in thousandths of the currency's unit.
    public let taxExclusivePrice: Int64?
    /// The tax rate, as a decimal number.
    public let taxRate: String?

    init(reading read: FieldReader) throws(Rejection) {
        consistencyToken = try read("consistencyToken")
        descriptors = try read(object: "descriptors")
        estimatedTax = try read("estimatedTax")
        items = try read(objects: "items")
        period = try read("period")
        requestReferenceID = try read("requestReferenceId")
        taxCode = try read("taxCode")
        taxExclusivePrice = try read("taxExclusivePrice")
        taxRate = try read("taxRate")
    }
}

/// The developer's name and description of the product.
public struct AdvancedCommerceDescriptors: Sendable, Hashable, FieldObject {
    /// The developer's description of the product, which customers don't see.
    public let description: String?
    /// The name that the customer reads.
    public let displayName: String?

    init(reading read: FieldReader) throws(Rejection) {
        description = try read("description")
        displayName = try read("displayName")
    }
}

/// One SKU of the developer in a purchase through the Advanced Commerce API. A purchase may have several items.
public struct AdvancedCommerceItem: Sendable, Hashable, FieldObject {
    /// The developer's ID of the item.
    public let sku: String?
    /// The developer's description of the SKU, which customers don't see.
    public let description: String?
    /// The name that the customer reads.
    public let displayName: String?
    /// The discount of the item. Nil if the item has no discount.
    public let offer: AdvancedCommerceOffer?
    /// The item's price, in thousandths of the currency's unit.
    public let price: Int64?
    /// All refunds of the item. Nil if the item wasn't refunded.
    public let refunds: [AdvancedCommerceRefund]?
    /// When the item was revoked. Nil if it wasn't.
    public let revocationDate: Date?
    /// The coming increase of the item's price. Only in renewal info.
    public let priceIncreaseInfo: AdvancedCommercePriceIncrease?

    init(reading read: FieldReader) throws(Rejection) {
        sku = try read("SKU")
        description = try read("description")
        displayName = try read("displayName")
        offer = try read(object: "offer")
        price = try read("price")
        refunds = try read(objects: "refunds")
        revocationDate = try read("revocationDate")
        priceIncreaseInfo = try read(object: "priceIncreaseInfo")
    }
}

/// The offer under which an item was sold.
public struct AdvancedCommerceOffer: Sendable, Hashable, FieldObject {
    /// The length of one period of the offer, as an ISO 8601 duration.
    public let period: String?
    /// The number of periods for which the offer applies.
    public let periodCount: Int64?
    /// The price of the offer, in thousandths of the currency's unit.
    public let price: Int64?
    /// Why the offer was made.
    public let reason: Open<AdvancedCommerceOfferReason>?

    init(reading read: FieldReader) throws(Rejection) {
        period = try read("period")
        periodCount = try read("periodCount")
        price = try read("price")
        reason = try read("reason")
    }
}

/// A refund of an item, full or in part. An item may be refunded several times.
public struct AdvancedCommerceRefund: Sendable, Hashable, FieldObject {
    /// The refunded amount, in thousandths of the currency's unit.
    public let refundAmount: Int64?
    /// When Apple refunded the item.
    public let refundDate: Date?
    /// Why Apple refunded the item.
    public let refundReason: Open<AdvancedCommerceRefundReason>?
    /// How much was refunded: everything, the unused time, or another amount.
    public let refundType: Open<AdvancedCommerceRefundType>?

    init(reading read: FieldReader) throws(Rejection) {
        refundAmount = try read("refundAmount")
        refundDate = try read("refundDate")
        refundReason = try read("refundReason")
        refundType = try read("refundType")
    }
}

/// A coming increase of an item's price.
public struct AdvancedCommercePriceIncrease: Sendable, Hashable, FieldObject {
    /// The items that depend on this item.
    public let dependentSKUs: [String]?
    /// The new price, in thousandths of the currency's unit.
    public let price: Int64?
    /// The state of the price increase: scheduled, pending or accepted.
    public let status: Open<AdvancedCommercePriceIncreaseStatus>?

    init(reading read: FieldReader) throws(Rejection) {
        dependentSKUs = try read("dependentSKUs")
        price = try read("price")
        status = try read("status")
    }
}

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

/// Whether the customer accepted an item's price increase. Apple documents only the names of these values.
public enum AdvancedCommercePriceIncreaseStatus: String, Sendable, Hashable, CaseIterable {
    /// The increase is planned.
    case scheduled = "SCHEDULED"
    /// The increase waits for the customer's consent.
    case pending = "PENDING"
    /// The item renews at the new price.
    case accepted = "ACCEPTED"
}
