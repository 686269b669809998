public import TenureCore

/// The part of a notification that is about a renewal extension for all subscribers.
public struct NotificationSummary: Sendable, Hashable, FieldObject {
    /// The environment of the App Store that signed the notification.
    public let environment: Open<AppStoreEnvironment>?
    /// The app's Apple ID (adam ID); absent in Sandbox.
    public let appAppleID: Int64?
    /// `CFBundleIdentifier` of the app.
    public let bundleID: String?
    /// The product ID in App Store Connect.
    public let productID: String?
    /// The ID that the developer's server passed to Apple when it requested the extension.
    public let requestIdentifier: String?
    /// The countries in which the subscriptions were to be extended, as ISO 3166-1 alpha-3 codes.
    public let storefrontCountryCodes: [String]?
    /// The number of extended subscriptions.
    public let succeededCount: Int64?
    /// The number of subscriptions that couldn't be extended.
    public let failedCount: Int64?

    init(reading read: FieldReader) throws(Rejection) {
        environment = try read("environment")
        appAppleID = try read("appAppleId")
        bundleID = try read("bundleId")
        productID = try read("productId")
        requestIdentifier = try read("requestIdentifier")
        storefrontCountryCodes = try read("storefrontCountryCodes")
        succeededCount = try read("succeededCount")
        failedCount = try read("failedCount")
    }
}
