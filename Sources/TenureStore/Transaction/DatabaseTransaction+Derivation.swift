import Foundation
import TenureCore

/// Reads the rows from which a customer's facts are computed, and the stored facts of many customers.
extension DatabaseTransaction {
    /// Returns all rows from which the customer's facts can be computed; nil if the customer doesn't exist.
    package func rows(of id: Int64) throws(StoreError) -> CustomerRows? {
        try customer(id, asStored: true).map { customer throws(StoreError) in try rows(of: customer) }
    }

    /// Returns the rows of a customer and of all customers that were merged into it.
    func rows(of customer: Customer) throws(StoreError) -> CustomerRows {
        var artifacts: [(artifact: Artifact, receivedAt: Date)] = []
        var notifications: [(notification: StoredNotification, receivedAt: Date)] = []
        var promises: [StoredPromise] = []
        var support: [StoredSupportGrant] = []
        var events: [StoredEvent] = []
        var isFull = false
        let group = try group(of: customer.id)
        for member in group {
            let count = artifacts.count
            artifacts += try storedArtifacts(of: member)
            if artifacts.count - count >= Self.maximumArtifactsPerMember { isFull = true }
            notifications += try self.notifications(of: member)
            promises += try self.promises(of: member)
            support += try supportGrants(of: member)
            // Facts don't depend on events. They are read so that a check of the database finds damaged ones.
            events += try self.events(of: member)
        }
        return CustomerRows(
            customer: customer, artifacts: artifacts, notifications: notifications, promises: promises,
            support: support, events: events, purchasesAreComplete: try purchasesAreComplete(of: group),
            isUnbound: try isUnbound(customer.id), isFull: isFull)
    }

    /// The query of `Database.forEachCustomer`, for the realm's code, the public ID and the encoded facts.
    static let customersInRange = """
        SELECT realm, public_id, facts FROM customers WHERE id > $1 AND id <= $2 AND merged_into IS NULL
        AND \(isNotUnbound) ORDER BY id
        """
}
