public import Foundation
public import TenureCore
public import TenureJSON

/// An App Store Server Notification, version 2. The notification has one of the four parts `data`, `summary`,
/// `externalPurchaseToken` and `appData`, or a newer part that this library doesn't know.
public struct NotificationPayload: Sendable, Hashable, AppStorePayload {
    /// The event, such as `DID_RENEW`.
    public let notificationType: Open<NotificationType>?
    /// Details of the event, such as `VOLUNTARY`.
    public let subtype: Open<NotificationSubtype>?
    /// The ID of the notification, which is the same in every attempt to deliver the notification.
    public let notificationUUID: String?
    /// The version of the format, such as `2.0`.
    public let version: String?
    /// When the App Store signed the payload.
    public let signedDate: Date?
    /// The app, and the transaction or renewal info. Nil in notifications with another part.
    public let data: NotificationData?
    /// The result of a renewal date extension for all subscribers. Nil in other notifications.
    public let summary: NotificationSummary?
    /// The token of a purchase outside of the App Store. Nil in notifications that aren't about such a purchase.
    public let externalPurchaseToken: ExternalPurchaseToken?
    /// The app, and its app transaction. Nil in notifications that aren't about the app itself.
    public let appData: NotificationAppData?

    /// The parsed JSON of the payload, with all of its fields.
    let tape: JSONTape
    /// Every field as it was signed, including unknown fields.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }

    static var kind: JWSKind { .notification }

    /// Every field that Apple documents for this payload, for code that shows or creates payloads.
    public static let fields = FieldReader.fields(of: Self.init(reading:))

    init(reading read: FieldReader) throws(Rejection) {
        notificationType = try read("notificationType")
        subtype = try read("subtype")
        notificationUUID = try read("notificationUUID")
        version = try read("version")
        signedDate = try read("signedDate")
        data = try read(object: "data")
        summary = try read(object: "summary")
        externalPurchaseToken = try read(object: "externalPurchaseToken")
        appData = try read(object: "appData")
        tape = read.tape
    }

    /// The part of a notification that has none of the four known parts: the first object that contains a bundle ID.
    /// Nil if there is no such object. Apple adds new parts, and a notification with a new part is accepted, too.
    private var unknownPart: NotificationAppData? {
        for index in tape.objects(inObjectAt: tape.root) {
            let part = try? NotificationAppData(reading: FieldReader(tape: tape, index: index))
            if let part, part.bundleID != nil { return part }
        }
        return nil
    }

    /// The app and the environment in the first part that is present, in Apple's order.
    private var appAndEnvironment: (bundleID: String?, appAppleID: Int64?, environmentName: String?) {
        if let data { return (data.bundleID, data.appAppleID, data.environment?.rawValue) }
        if let summary { return (summary.bundleID, summary.appAppleID, summary.environment?.rawValue) }
        if let token = externalPurchaseToken { return (token.bundleID, token.appAppleID, token.environment.rawValue) }
        let appPart = appData ?? unknownPart
        return (appPart?.bundleID, appPart?.appAppleID, appPart?.environment?.rawValue)
    }

    var bundleID: String? { appAndEnvironment.bundleID }
    var appAppleID: Int64? { appAndEnvironment.appAppleID }
    var environmentName: String? { appAndEnvironment.environmentName }
}

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
