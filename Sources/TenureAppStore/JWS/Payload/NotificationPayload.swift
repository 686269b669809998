public import Foundation
import TenureCore
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

    /// The first object in the notification that contains an app. Nil if there is no such object.
    ///
    /// The object is used only if the notification has none of the four known parts. Apple adds new parts, and a
    /// notification with a new part is accepted, too.
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
