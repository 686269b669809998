public import Foundation

/// One item of an Advanced Commerce purchase.
public struct AdvancedCommerceItem: Sendable, Hashable {
    public let sku: String?
    public let description: String?
    public let displayName: String?
    public let offer: AdvancedCommerceOffer?
    public let price: Int64?
    public let refunds: [AdvancedCommerceRefund]?
    public let revocationDate: Date?
    /// Renewal info only.
    public let priceIncreaseInfo: AdvancedCommercePriceIncrease?

    enum Fields {
        static let sku = Field<String>("SKU")
        static let description = Field<String>("description")
        static let displayName = Field<String>("displayName")
        static let offer = Field<AdvancedCommerceOffer>("offer")
        static let price = Field<Int64>("price")
        static let refunds = Field<[AdvancedCommerceRefund]>("refunds")
        static let revocationDate = Field<Date>("revocationDate")
        static let priceIncreaseInfo = Field<AdvancedCommercePriceIncrease>("priceIncreaseInfo")
    }
}

extension AdvancedCommerceItem: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.sku.description, Fields.description.description, Fields.displayName.description,
        Fields.offer.description, Fields.price.description, Fields.refunds.description,
        Fields.revocationDate.description, Fields.priceIncreaseInfo.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        sku = try read(Fields.sku)
        description = try read(Fields.description)
        displayName = try read(Fields.displayName)
        offer = try read(Fields.offer)
        price = try read(Fields.price)
        refunds = try read(Fields.refunds)
        revocationDate = try read(Fields.revocationDate)
        priceIncreaseInfo = try read(Fields.priceIncreaseInfo)
    }
}

/// The offer under which an item was sold.
public struct AdvancedCommerceOffer: Sendable, Hashable {
    /// ISO 8601 duration.
    public let period: String?
    public let periodCount: Int64?
    public let price: Int64?
    public let reason: Open<AdvancedCommerceOfferReason>?

    enum Fields {
        static let period = Field<String>("period")
        static let periodCount = Field<Int64>("periodCount")
        static let price = Field<Int64>("price")
        static let reason = Field<Open<AdvancedCommerceOfferReason>>("reason")
    }
}

extension AdvancedCommerceOffer: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.period.description, Fields.periodCount.description, Fields.price.description,
        Fields.reason.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        period = try read(Fields.period)
        periodCount = try read(Fields.periodCount)
        price = try read(Fields.price)
        reason = try read(Fields.reason)
    }
}

/// One refund of an item.
public struct AdvancedCommerceRefund: Sendable, Hashable {
    public let refundAmount: Int64?
    public let refundDate: Date?
    public let refundReason: Open<AdvancedCommerceRefundReason>?
    public let refundType: Open<AdvancedCommerceRefundType>?

    enum Fields {
        static let refundAmount = Field<Int64>("refundAmount")
        static let refundDate = Field<Date>("refundDate")
        static let refundReason = Field<Open<AdvancedCommerceRefundReason>>("refundReason")
        static let refundType = Field<Open<AdvancedCommerceRefundType>>("refundType")
    }
}

extension AdvancedCommerceRefund: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.refundAmount.description, Fields.refundDate.description, Fields.refundReason.description,
        Fields.refundType.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        refundAmount = try read(Fields.refundAmount)
        refundDate = try read(Fields.refundDate)
        refundReason = try read(Fields.refundReason)
        refundType = try read(Fields.refundType)
    }
}

/// A coming increase of an item's price.
public struct AdvancedCommercePriceIncrease: Sendable, Hashable {
    public let dependentSKUs: [String]?
    public let price: Int64?
    public let status: Open<AdvancedCommercePriceIncreaseStatus>?

    enum Fields {
        static let dependentSKUs = Field<[String]>("dependentSKUs")
        static let price = Field<Int64>("price")
        static let status = Field<Open<AdvancedCommercePriceIncreaseStatus>>("status")
    }
}

extension AdvancedCommercePriceIncrease: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.dependentSKUs.description, Fields.price.description, Fields.status.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        dependentSKUs = try read(Fields.dependentSKUs)
        price = try read(Fields.price)
        status = try read(Fields.status)
    }
}
