/// Information of the Advanced Commerce API in a transaction or in renewal info.
public struct AdvancedCommerceInfo: Sendable, Hashable, FieldObject {
    /// Apple's consistency token of the subscription. Only in renewal info.
    public let consistencyToken: String?
    /// The texts that the customer reads.
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

/// The developer's description of the product.
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
