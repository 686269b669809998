import Foundation

/// The use of a device: the device sent an artifact that was signed for it.
package struct DeviceUse: Sendable, Hashable {
    /// The hash of the device's ID.
    package let device: String
    /// Whether the response contains an entitlement token: a signed statement of the entitlements for this device.
    let getsEntitlementToken: Bool
    /// The number of devices above which an event is stored. The limit has no other effect.
    let limit: Int

    package init(device: String, getsEntitlementToken: Bool, limit: Int) {
        self.device = device
        self.getsEntitlementToken = getsEntitlementToken
        self.limit = limit
    }
}

/// Stores and counts the devices of a customer.
extension DatabaseTransaction {
    /// Stores the use of a device, and counts the entitlement tokens (signed statements of the entitlements) that it
    /// gets. Returns whether the device is new. If the customer now has more devices than `DeviceUse.limit`, stores an
    /// event, at most once a day.
    ///
    /// - Parameter isFirst: whether the customer is new, so that this is their first device.
    func insert(_ use: DeviceUse, of customer: Customer, isFirst: Bool) throws(StoreError) -> Bool {
        let tokens: SQLValue = use.getsEntitlementToken ? 1 : 0
        if !isFirst {
            let changed = try session.execute(
                """
                UPDATE devices SET last_seen = $1, entitlement_tokens = entitlement_tokens + $2 WHERE customer = $3 AND device = $4
                """, [milliseconds, tokens, .integer(customer.member), .text(use.device)])
            guard changed == 0 else { return false }
        }
        // The row belongs to the member (row of `customers`) that the sync named, so that this member keeps the device
        // if a merge is undone.
        try session.execute(
            """
            INSERT INTO devices (customer, device, first_seen, last_seen, entitlement_tokens) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT DO NOTHING
            """, [.integer(customer.member), .text(use.device), milliseconds, milliseconds, tokens])
        guard !isFirst else { return true }
        // The different devices of all members of the customer.
        let sql = "SELECT device FROM devices WHERE customer IN \(Self.batch)"
        let count = Set(try texts(sql, about: try group(of: customer.id))).count
        guard count > use.limit, try !hasEvent(.manyDevices, since: now.addingTimeInterval(-86_400), of: customer.id)
        else { return true }
        try append(.manyDevices, to: customer, detail: ["devices": String(count), "limit": String(use.limit)])
        return true
    }

    /// Whether one of the customer's members has an event of this kind since an instant.
    private func hasEvent(_ kind: StoredEvent.Kind, since: Date, of customer: Int64) throws(StoreError) -> Bool {
        for member in try group(of: customer) {
            let row = try session.row(
                "SELECT 1 FROM events WHERE customer = $1 AND kind = $2 AND at > $3 LIMIT 1",
                [.integer(member), .text(kind.rawValue), SQLValue(since)])
            if row != nil { return true }
        }
        return false
    }
}
