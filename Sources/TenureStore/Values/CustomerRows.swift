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
    /// Whether events say that all purchases of each of the customer's accounts are known.
    package let purchasesAreComplete: Bool
    /// Whether the customer is unbound: the artifacts came without proof that they belong to the sender.
    package let isUnbound: Bool
    /// Whether the customer, or one that was merged into it, has the maximum number of artifacts. If so, the database
    /// stores only the facts that further artifacts prove, and not these artifacts.
    package let isFull: Bool
}
