public import Foundation
public import TenureCore

/// The token of a purchase outside of the App Store, in a notification about such a purchase.
public struct ExternalPurchaseToken: Sendable, Hashable, FieldObject {
    /// The ID of the token: a UUID, in Sandbox with the prefix `SANDBOX_`.
    public let externalPurchaseID: String?
    /// When the App Store made the token.
    public let tokenCreationDate: Date?
    /// The app's Apple ID (adam ID); absent in Sandbox.
    public let appAppleID: Int64?
    /// `CFBundleIdentifier` of the app.
    public let bundleID: String?
    /// When the token expires.
    public let tokenExpirationDate: Date?
    /// Which fee of Apple applies to the purchase. Only tokens for custom links have this field.
    public let tokenType: Open<ExternalPurchaseTokenType>?

    init(reading read: FieldReader) throws(Rejection) {
        externalPurchaseID = try read("externalPurchaseId")
        tokenCreationDate = try read("tokenCreationDate")
        appAppleID = try read("appAppleId")
        bundleID = try read("bundleId")
        tokenExpirationDate = try read("tokenExpirationDate")
        tokenType = try read("tokenType")
    }

    /// The environment in which the token was made. The token has no field for it, but the IDs of Sandbox have a
    /// prefix.
    public var environment: AppStoreEnvironment {
        externalPurchaseID?.hasPrefix("SANDBOX") == true ? .sandbox : .production
    }
}
