package import Foundation

/// All that the ledger holds of one customer, with those who turned out to be the same: what their facts derive from.
package struct CustomerRows: Sendable {
    package let customer: Customer
    /// In the order in which they came, each with its time.
    package let artifacts: [(artifact: Artifact, receivedAt: Date)]
    /// In the order in which they came, each with its time.
    package let notifications: [(notification: StoredNotification, receivedAt: Date)]
    package let promises: [StoredPromise]
    package let support: [StoredSupportGrant]
    package let events: [StoredEvent]
    /// Whether the events say so of every account that turned out to be theirs.
    package let purchasesAreComplete: Bool
    /// Whether it is an unbound record.
    package let isUnbound: Bool

    package init(
        customer: Customer, artifacts: [(artifact: Artifact, receivedAt: Date)],
        notifications: [(notification: StoredNotification, receivedAt: Date)] = [], promises: [StoredPromise],
        support: [StoredSupportGrant], events: [StoredEvent], purchasesAreComplete: Bool, isUnbound: Bool = false
    ) {
        self.customer = customer
        self.artifacts = artifacts
        self.notifications = notifications
        self.promises = promises
        self.support = support
        self.events = events
        self.purchasesAreComplete = purchasesAreComplete
        self.isUnbound = isUnbound
    }
}
