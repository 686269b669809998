package import Foundation

/// An App Store Server Notification, byte for byte as received.
package struct StoredNotification: Sendable, Hashable {
    /// The environment of the App Store, or the test authority, that signed the notification.
    package let realm: Realm
    /// `notificationUUID`, the same each time that the App Store sends the notification.
    package let uuid: String
    /// Apple's name for the type, which this release may not know. Empty if the notification has no type.
    package let type: String
    package let subtype: String?
    /// When the App Store signed the notification; nil if it doesn't say.
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

/// The result of storing a notification.
package struct Reception: Sendable, Hashable {
    /// Whether the notification was stored now. False if the notification was received before, or is about an erased
    /// customer.
    package let isNew: Bool
    /// Whether the notification is about a customer who was erased and hasn't used the app since. If so, nothing was
    /// stored.
    package let isOfErasedCustomer: Bool
    /// The customer whom the notification is about, if any.
    package let customer: Customer?

    package init(isNew: Bool, customer: Customer?, isOfErasedCustomer: Bool = false) {
        self.isNew = isNew
        self.isOfErasedCustomer = isOfErasedCustomer
        self.customer = customer
    }
}
