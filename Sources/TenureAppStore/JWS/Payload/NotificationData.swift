public import TenureCore

/// The part of a notification about one transaction or subscription.
public struct NotificationData: Sendable, Hashable {
    /// Absent in a test notification of the sandbox.
    public let appAppleID: Int64?
    public let bundleID: String?
    /// CFBundleVersion of the app that purchased.
    public let bundleVersion: String?
    public let environment: Open<AppStoreEnvironment>?
    /// A nested JWS.
    public let signedTransactionInfo: String?
    /// A nested JWS; subscriptions only.
    public let signedRenewalInfo: String?
    public let status: Open<SubscriptionStatus>?
    public let consumptionRequestReason: Open<ConsumptionRequestReason>?

    enum Fields {
        static let appAppleID = Field<Int64>("appAppleId")
        static let bundleID = Field<String>("bundleId")
        static let bundleVersion = Field<String>("bundleVersion")
        static let environment = Field<Open<AppStoreEnvironment>>("environment")
        static let signedTransactionInfo = Field<String>("signedTransactionInfo")
        static let signedRenewalInfo = Field<String>("signedRenewalInfo")
        static let status = Field<Open<SubscriptionStatus>>("status")
        static let consumptionRequestReason = Field<Open<ConsumptionRequestReason>>("consumptionRequestReason")
    }
}

extension NotificationData: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.appAppleID.description, Fields.bundleID.description, Fields.bundleVersion.description,
        Fields.environment.description, Fields.signedTransactionInfo.description,
        Fields.signedRenewalInfo.description, Fields.status.description, Fields.consumptionRequestReason.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        appAppleID = try read(Fields.appAppleID)
        bundleID = try read(Fields.bundleID)
        bundleVersion = try read(Fields.bundleVersion)
        environment = try read(Fields.environment)
        signedTransactionInfo = try read(Fields.signedTransactionInfo)
        signedRenewalInfo = try read(Fields.signedRenewalInfo)
        status = try read(Fields.status)
        consumptionRequestReason = try read(Fields.consumptionRequestReason)
    }
}

/// The part of a notification about the app itself.
public struct NotificationAppData: Sendable, Hashable {
    public let appAppleID: Int64?
    public let bundleID: String?
    public let environment: Open<AppStoreEnvironment>?
    /// A nested JWS: the server variant of an app transaction.
    public let signedAppTransactionInfo: String?

    enum Fields {
        static let appAppleID = Field<Int64>("appAppleId")
        static let bundleID = Field<String>("bundleId")
        static let environment = Field<Open<AppStoreEnvironment>>("environment")
        static let signedAppTransactionInfo = Field<String>("signedAppTransactionInfo")
    }
}

extension NotificationAppData: FieldObject {
    static let fields: [FieldDescription] = [
        Fields.appAppleID.description, Fields.bundleID.description, Fields.environment.description,
        Fields.signedAppTransactionInfo.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        appAppleID = try read(Fields.appAppleID)
        bundleID = try read(Fields.bundleID)
        environment = try read(Fields.environment)
        signedAppTransactionInfo = try read(Fields.signedAppTransactionInfo)
    }
}
