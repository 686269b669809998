public import TenureCore

/// The part of a notification about a renewal extension for all subscribers.
public struct NotificationSummary: Sendable, Hashable {
    public let environment: Open<AppStoreEnvironment>?
    public let appAppleID: Int64?
    public let bundleID: String?
    public let productID: String?
    public let requestIdentifier: String?
    /// ISO 3166-1 alpha-3.
    public let storefrontCountryCodes: [String]?
    public let succeededCount: Int64?
    public let failedCount: Int64?

    enum Fields {
        static let environment = Field<Open<AppStoreEnvironment>>("environment")
        static let appAppleID = Field<Int64>("appAppleId")
        static let bundleID = Field<String>("bundleId")
        static let productID = Field<String>("productId")
        static let requestIdentifier = Field<String>("requestIdentifier")
        static let storefrontCountryCodes = Field<[String]>("storefrontCountryCodes")
        static let succeededCount = Field<Int64>("succeededCount")
        static let failedCount = Field<Int64>("failedCount")
    }
}

extension NotificationSummary: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.environment.description, Fields.appAppleID.description, Fields.bundleID.description,
        Fields.productID.description, Fields.requestIdentifier.description, Fields.storefrontCountryCodes.description,
        Fields.succeededCount.description, Fields.failedCount.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        environment = try read(Fields.environment)
        appAppleID = try read(Fields.appAppleID)
        bundleID = try read(Fields.bundleID)
        productID = try read(Fields.productID)
        requestIdentifier = try read(Fields.requestIdentifier)
        storefrontCountryCodes = try read(Fields.storefrontCountryCodes)
        succeededCount = try read(Fields.succeededCount)
        failedCount = try read(Fields.failedCount)
    }
}
