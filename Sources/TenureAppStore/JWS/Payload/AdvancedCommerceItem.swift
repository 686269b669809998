public import Foundation

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
