public import TenureCore

/// The part of a notification about one transaction or subscription.
public struct NotificationData: Sendable, Hashable {
    /// Absent in a test notification of the sandbox.
    public let appAppleID: Int64?
    /// `CFBundleIdentifier` of the app.
    public let bundleID: String?
    /// CFBundleVersion of the app that purchased.
    public let bundleVersion: String?
    /// The environment of the App Store that signed it.
    public let environment: Open<AppStoreEnvironment>?
    /// A nested JWS.
    public let signedTransactionInfo: String?
    /// A nested JWS; subscriptions only.
    public let signedRenewalInfo: String?
    /// The state of the subscription. Nil for other products.
    public let status: Open<SubscriptionStatus>?
    /// Why the customer asked for a refund.
    public let consumptionRequestReason: Open<ConsumptionRequestReason>?
}

extension NotificationData: FieldObject {
    init(reading read: FieldReader) throws(Rejection) {
        appAppleID = try read("appAppleId")
        bundleID = try read("bundleId")
        bundleVersion = try read("bundleVersion")
        environment = try read("environment")
        signedTransactionInfo = try read("signedTransactionInfo")
        signedRenewalInfo = try read("signedRenewalInfo")
        status = try read("status")
        consumptionRequestReason = try read("consumptionRequestReason")
    }
}

/// The part of a notification about the app itself.
public struct NotificationAppData: Sendable, Hashable {
    /// The app's Apple ID (adam ID); absent in Sandbox.
    public let appAppleID: Int64?
    /// `CFBundleIdentifier` of the app.
    public let bundleID: String?
    /// The environment of the App Store that signed it.
    public let environment: Open<AppStoreEnvironment>?
    /// A nested JWS: the server variant of an app transaction.
    public let signedAppTransactionInfo: String?
}

extension NotificationAppData: FieldObject {
    init(reading read: FieldReader) throws(Rejection) {
        appAppleID = try read("appAppleId")
        bundleID = try read("bundleId")
        environment = try read("environment")
        signedAppTransactionInfo = try read("signedAppTransactionInfo")
    }
}
