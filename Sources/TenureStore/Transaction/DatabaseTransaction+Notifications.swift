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

    package init(realm: Realm, uuid: String, type: String, subtype: String?, signedDate: Date?, bytes: [UInt8]) {
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

/// Stores and reads App Store Server Notifications. They belong to a *member*: a row of `customers`, of which a merged
/// customer has several.
extension DatabaseTransaction {
    /// Returns the result for a notification that must not be stored: it was received before, or it is about an erased
    /// customer. Nil if it is new.
    func reception(of notification: StoredNotification, about identities: [Identity]) throws(StoreError) -> Reception? {
        if let known = try knownRow(of: notification) {
            let id = try known.integerIfPresent(0)
            return Reception(isNew: false, customer: try id.flatMap { id throws(StoreError) in try customer(id) })
        }
        guard try areErased(identities, in: notification.realm, forUpdate: false) else { return nil }
        return Reception(isNew: false, customer: nil, isOfErasedCustomer: true)
    }

    /// Whether the notification is stored already, or is about an erased customer.
    func isKnown(_ notification: StoredNotification, about identities: [Identity]) throws(StoreError) -> Bool {
        if try knownRow(of: notification) != nil { return true }
        return try areErased(identities, in: notification.realm)
    }

    /// The row of the stored notification with the same UUID; nil if none is stored.
    private func knownRow(of notification: StoredNotification) throws(StoreError) -> SQLRow? {
        try session.row(
            "SELECT customer FROM notifications WHERE realm = $1 AND uuid = $2",
            [SQLValue(notification.realm.code), .text(notification.uuid)])
    }

    /// Stores a notification. `subject` is the customer whom it is about, if any.
    func insert(_ notification: StoredNotification, about subject: Customer?) throws(StoreError) {
        let (header, rest) = notification.bytes.partsOfJWS
        let headerID = SQLValue(try header.map { header throws(StoreError) in try self.headerID(header) })
        try session.execute(
            """
            INSERT INTO notifications (realm, uuid, type, subtype, signed_at, received_at, customer, header, bytes)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            [
                SQLValue(notification.realm.code), .text(notification.uuid), .text(notification.type),
                SQLValue(notification.subtype), SQLValue(notification.signedDate), milliseconds,
                SQLValue(subject?.member), headerID, SQLValue(rest),
            ])
    }

    /// A member's notifications, in the order in which they were received.
    func notifications(of member: Int64) throws(StoreError) -> [(notification: StoredNotification, receivedAt: Date)] {
        try numberedNotifications(of: member).map { ($0.notification, $0.receivedAt) }
    }

    /// A page of a member's notifications with their row IDs.
    ///
    /// - Parameter number: the row ID of the last notification on the previous page; 0 for the first page.
    func numberedNotifications(
        of member: Int64, after number: Int64 = 0, limit: Int = .max
    ) throws(StoreError) -> [(number: Int64, notification: StoredNotification, receivedAt: Date)] {
        // As in `numberedArtifacts`, the plus keeps the database from using the index of row IDs.
        try session.rows(
            """
            SELECT realm, uuid, type, subtype, signed_at, headers.bytes, notifications.bytes, received_at,
                notifications.id
            FROM notifications LEFT JOIN headers ON headers.id = header
            WHERE customer = $1 AND +notifications.id > $2 ORDER BY +notifications.id LIMIT $3
            """, [.integer(member), .integer(number), SQLValue(limit)]
        ).map { row throws(StoreError) in
            let notification = StoredNotification(
                realm: try row.codedValue(0, "realm", Realm.init(code:)), uuid: try row.text(1),
                type: try row.text(2), subtype: try row.textIfPresent(3), signedDate: try row.instantIfPresent(4),
                bytes: (try row.bytesIfPresent(5) ?? []) + (try row.bytes(6)))
            return (try row.integer(8), notification, try row.instant(7))
        }
    }
}
