public import TenureCore

/// The part of a notification that is about one transaction or subscription.
public struct NotificationData: Sendable, Hashable, FieldObject {
    /// The app's Apple ID (adam ID). Absent in a test notification of Sandbox.
    public let appAppleID: Int64?
    /// `CFBundleIdentifier` of the app.
    public let bundleID: String?
    /// CFBundleVersion of the app in which the customer made the purchase.
    public let bundleVersion: String?
    /// The environment of the App Store that signed the notification.
    public let environment: Open<AppStoreEnvironment>?
    /// The transaction, as a nested JWS.
    public let signedTransactionInfo: String?
    /// The renewal info, as a nested JWS. For subscriptions only.
    public let signedRenewalInfo: String?
    /// The state of the subscription; nil for other products.
    public let status: Open<SubscriptionStatus>?
    /// Why the customer asked for a refund. Nil unless the notification's type is `consumptionRequest`.
    public let consumptionRequestReason: Open<ConsumptionRequestReason>?

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

/// The part of a notification that is about the app itself.
public struct NotificationAppData: Sendable, Hashable, FieldObject {
    /// The app's Apple ID (adam ID); absent in Sandbox.
    public let appAppleID: Int64?
    /// `CFBundleIdentifier` of the app.
    public let bundleID: String?
    /// The environment of the App Store that signed the notification.
    public let environment: Open<AppStoreEnvironment>?
    /// The app transaction, signed for a server, as a nested JWS.
    public let signedAppTransactionInfo: String?

    init(reading read: FieldReader) throws(Rejection) {
        appAppleID = try read("appAppleId")
        bundleID = try read("bundleId")
        environment = try read("environment")
        signedAppTransactionInfo = try read("signedAppTransactionInfo")
    }
}
