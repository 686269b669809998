import Foundation
import TenureCore

/// Reads the rows from which a customer's facts are computed, and the stored facts of many customers.
extension DatabaseTransaction {
    /// Returns all rows from which the customer's facts can be computed; nil if the customer doesn't exist.
    package func rows(of id: Int64) throws(StoreError) -> CustomerRows? {
        try customer(id, asStored: true).map { customer throws(StoreError) in try rows(of: customer) }
    }

    /// Returns the rows of all members of a customer.
    func rows(of customer: Customer) throws(StoreError) -> CustomerRows {
        var artifacts: [(artifact: Artifact, receivedAt: Date)] = []
        var notifications: [(notification: StoredNotification, receivedAt: Date)] = []
        var promises: [StoredPromise] = []
        var support: [StoredSupportGrant] = []
        var events: [StoredEvent] = []
        let group = try group(of: customer.id)
        for member in group {
            artifacts += try storedArtifacts(of: member)
            notifications += try self.notifications(of: member)
            promises += try self.promises(of: member)
            support += try supportGrants(of: member)
            events += try self.events(of: member)
        }
        return CustomerRows(
            customer: customer, artifacts: artifacts, notifications: notifications, promises: promises,
            support: support, events: events, purchasesAreComplete: try purchasesAreComplete(of: group),
            isUnbound: try isUnbound(customer.id))
    }

    /// Returns the customers in a range of row IDs, for `Database.forEachCustomer`.
    func customerPage(after id: Int64, through last: Int64) throws(StoreError) -> CustomerPage {
        var page = CustomerPage()
        let rows = try session.rows(
            """
            SELECT realm, public_id, facts FROM customers WHERE id > $1 AND id <= $2 AND merged_into IS NULL
            AND \(Self.isNotUnbound) ORDER BY id
            """, [.integer(id), .integer(last)])
        for row in rows {
            page.add(
                realm: UInt8(clamping: try row.integer(0)), publicID: try row.text(1).utf8, facts: try row.bytes(2))
        }
        return page
    }
}
