package import Foundation

/// All rows of one customer, and of the customers who were merged into them. The customer's facts are computed from
/// these rows.
package struct CustomerRows: Sendable {
    package let customer: Customer
    /// The artifacts in the order of their arrival, each with the time of its arrival.
    package let artifacts: [(artifact: Artifact, receivedAt: Date)]
    /// The notifications in the order of their arrival, each with the time of its arrival.
    package let notifications: [(notification: StoredNotification, receivedAt: Date)]
    package let promises: [StoredPromise]
    package let support: [StoredSupportGrant]
    package let events: [StoredEvent]
    /// Whether all purchases of each of the customer's accounts are known, according to `events`.
    package let purchasesAreComplete: Bool
    /// Whether the customer is unbound: the artifacts came without proof that they belong to the sender.
    package let isUnbound: Bool
    /// Whether the customer, or one that was merged into it, has the maximum number of artifacts. If so, the database
    /// stores only the facts that further artifacts prove, and not these artifacts.
    package let isFull: Bool
}

/// Reads the rows from which a customer's facts (`CustomerFacts`) are computed, to check or rebuild a database.
extension DatabaseTransaction {
    /// Returns all rows from which the customer's facts can be computed; nil if the customer doesn't exist.
    package func rows(of id: Int64) throws(StoreError) -> CustomerRows? {
        try customer(id, asStored: true).map { customer throws(StoreError) in try rows(of: customer) }
    }

    /// Returns the rows of a customer and of all customers that were merged into it.
    func rows(of customer: Customer) throws(StoreError) -> CustomerRows {
        let group = try group(of: customer.id)
        func all<Row>(_ rows: (Int64) throws(StoreError) -> [Row]) throws(StoreError) -> [Row] {
            try group.map(rows).flatMap { $0 }
        }
        let artifacts = try group.map { member throws(StoreError) in try storedArtifacts(of: member) }
        return CustomerRows(
            customer: customer, artifacts: artifacts.flatMap { $0 },
            notifications: try all { member throws(StoreError) in try notifications(of: member) },
            promises: try all { member throws(StoreError) in try promises(of: member) },
            support: try all { member throws(StoreError) in try supportGrants(of: member) },
            // Facts depend on some events only, which `purchasesAreComplete` selects. All are read so that a check of
            // the database finds damaged ones.
            events: try all { member throws(StoreError) in try events(of: member) },
            purchasesAreComplete: try purchasesAreComplete(of: group), isUnbound: try isUnbound(customer.id),
            isFull: artifacts.contains { $0.count >= Self.maximumArtifactsPerMember })
    }
}
