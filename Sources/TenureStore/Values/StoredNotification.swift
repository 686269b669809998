package import Foundation

/// An App Store Server Notification as it came.
package struct StoredNotification: Sendable, Hashable {
    package let realm: Realm
    /// `notificationUUID`, the same in every attempt to deliver it.
    package let uuid: String
    /// Apple's name, known or not; empty where there is none.
    package let type: String
    package let subtype: String?
    package let signedDate: Date?
    /// A compact JWS.
    package let bytes: [UInt8]

    package init(
        realm: Realm, uuid: String, type: String, subtype: String?, signedDate: Date?, bytes: [UInt8]
    ) {
        self.realm = realm
        self.uuid = uuid
        self.type = type
        self.subtype = subtype
        self.signedDate = signedDate?.toMillisecond
        self.bytes = bytes
    }
}

/// What became of a notification.
package struct Reception: Sendable, Hashable {
    /// False where it came before, and where nothing of it was kept.
    package let isNew: Bool
    /// It speaks of somebody who was erased and has not used the app since: nothing of it was kept.
    package let isOfErased: Bool
    /// Nil where it speaks of nobody.
    package let customer: Customer?

    package init(isNew: Bool, customer: Customer?, isOfErased: Bool = false) {
        self.isNew = isNew
        self.isOfErased = isOfErased
        self.customer = customer
    }
}
