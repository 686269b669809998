public import Foundation
import TenureCore
import TenureJSON

/// An App Store Server Notification, version 2. It has one of four parts, or a part that isn't known here.
public struct NotificationPayload: Sendable, Hashable {
    public let notificationType: Open<NotificationType>?
    public let subtype: Open<NotificationSubtype>?
    /// The same in every attempt to deliver it.
    public let notificationUUID: String?
    public let version: String?
    public let signedDate: Date?
    public let data: NotificationData?
    public let summary: NotificationSummary?
    public let externalPurchaseToken: ExternalPurchaseToken?
    public let appData: NotificationAppData?

    let tape: JSONTape

    enum Fields {
        static let notificationType = Field<Open<NotificationType>>("notificationType")
        static let subtype = Field<Open<NotificationSubtype>>("subtype")
        static let notificationUUID = Field<String>("notificationUUID")
        static let version = Field<String>("version")
        static let signedDate = Field<Date>("signedDate")
        static let data = Field<NotificationData>("data")
        static let summary = Field<NotificationSummary>("summary")
        static let externalPurchaseToken = Field<ExternalPurchaseToken>("externalPurchaseToken")
        static let appData = Field<NotificationAppData>("appData")
    }
}

extension NotificationPayload: StorePayload {
    static var kind: JWSKind { .notification }

    public static let fields: [FieldDescription] = [
        Fields.notificationType.description, Fields.subtype.description, Fields.notificationUUID.description,
        Fields.version.description, Fields.signedDate.description, Fields.data.description,
        Fields.summary.description, Fields.externalPurchaseToken.description, Fields.appData.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        notificationType = try read(Fields.notificationType)
        subtype = try read(Fields.subtype)
        notificationUUID = try read(Fields.notificationUUID)
        version = try read(Fields.version)
        signedDate = try read(Fields.signedDate)
        data = try read(Fields.data)
        summary = try read(Fields.summary)
        externalPurchaseToken = try read(Fields.externalPurchaseToken)
        appData = try read(Fields.appData)
        tape = read.tape
    }
}

extension NotificationPayload {
    /// Without any of the four parts, the first object that names an app. Apple's newest types have new parts, and an
    /// unknown one is kept too.
    private var unknownPart: NotificationAppData? {
        for index in tape.objects(inObjectAt: tape.root) {
            let part = try? NotificationAppData(reading: FieldReader(tape: tape, index: index))
            if let part, part.bundleID != nil { return part }
        }
        return nil
    }

    // The present part, in Apple's order.
    var bundleID: String? {
        if let data { return data.bundleID }
        if let summary { return summary.bundleID }
        if let externalPurchaseToken { return externalPurchaseToken.bundleID }
        return (appData ?? unknownPart)?.bundleID
    }

    var appAppleID: Int64? {
        if let data { return data.appAppleID }
        if let summary { return summary.appAppleID }
        if let externalPurchaseToken { return externalPurchaseToken.appAppleID }
        return (appData ?? unknownPart)?.appAppleID
    }

    var environmentName: String? {
        if let data { return data.environment?.rawValue }
        if let summary { return summary.environment?.rawValue }
        if let externalPurchaseToken { return externalPurchaseToken.environment.rawValue }
        return (appData ?? unknownPart)?.environment?.rawValue
    }
}
