package import Foundation

/// An event in a customer's timeline: a change that no artifact shows.
package struct StoredEvent: Sendable, Hashable {
    /// The kinds of events, by the names in the database.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// From this event on, the service knows all purchases of the customer's account.
        case purchasesComplete
        /// Another customer was merged into this customer.
        case merged
        /// The merge of two customers was undone.
        case unmerged
        /// The customer was linked to a user of the app.
        case linked
        /// The link to a user of the app was removed.
        case unlinked
        /// The customer's acquisition of the app moved to another user of the app, with its promises (`StoredPromise`).
        case transferred
        /// The customer uses more devices than `DeviceUse.limit`.
        case manyDevices
        /// The publication of a policy ended promises (`StoredPromise`).
        case promisesEnded
        /// A rollback restored promises.
        case promisesRestored
    }

    package let kind: Kind
    package let at: Date
    /// The name of the admin key that caused the event; nil for the service itself.
    package let actor: String?
    /// Further fields by name, such as `reason`, or `customer` with the other customer of a merge.
    package let detail: [String: String]

    init(_ kind: Kind, at: Date, actor: String? = nil, detail: [String: String] = [:]) {
        self.kind = kind
        self.at = at.toMillisecond
        self.actor = actor
        self.detail = detail
    }
}
