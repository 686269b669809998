/// Information of the Advanced Commerce API in a transaction or in renewal info.
public struct AdvancedCommerceInfo: Sendable, Hashable {
    /// Renewal info only.
    public let consistencyToken: String?
    public let descriptors: AdvancedCommerceDescriptors?
    public let estimatedTax: Int64?
    public let items: [AdvancedCommerceItem]?
    /// ISO 8601 duration.
    public let period: String?
    public let requestReferenceID: String?
    public let taxCode: String?
    public let taxExclusivePrice: Int64?
    public let taxRate: String?

    enum Fields {
        static let consistencyToken = Field<String>("consistencyToken")
        static let descriptors = Field<AdvancedCommerceDescriptors>("descriptors")
        static let estimatedTax = Field<Int64>("estimatedTax")
        static let items = Field<[AdvancedCommerceItem]>("items")
        static let period = Field<String>("period")
        static let requestReferenceID = Field<String>("requestReferenceId")
        static let taxCode = Field<String>("taxCode")
        static let taxExclusivePrice = Field<Int64>("taxExclusivePrice")
        static let taxRate = Field<String>("taxRate")
    }
}

extension AdvancedCommerceInfo: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.consistencyToken.description, Fields.descriptors.description, Fields.estimatedTax.description,
        Fields.items.description, Fields.period.description, Fields.requestReferenceID.description,
        Fields.taxCode.description, Fields.taxExclusivePrice.description, Fields.taxRate.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        consistencyToken = try read(Fields.consistencyToken)
        descriptors = try read(Fields.descriptors)
        estimatedTax = try read(Fields.estimatedTax)
        items = try read(Fields.items)
        period = try read(Fields.period)
        requestReferenceID = try read(Fields.requestReferenceID)
        taxCode = try read(Fields.taxCode)
        taxExclusivePrice = try read(Fields.taxExclusivePrice)
        taxRate = try read(Fields.taxRate)
    }
}

/// The developer's description of the product.
public struct AdvancedCommerceDescriptors: Sendable, Hashable {
    public let description: String?
    public let displayName: String?

    enum Fields {
        static let description = Field<String>("description")
        static let displayName = Field<String>("displayName")
    }
}

extension AdvancedCommerceDescriptors: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.description.description, Fields.displayName.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        description = try read(Fields.description)
        displayName = try read(Fields.displayName)
    }
}
