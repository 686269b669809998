package import Foundation

/// A change of a customer that isn't in any artifact.
package struct StoredEvent: Sendable, Hashable {
    /// The kinds of events, by the names in the database.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// All of the customer's purchases are known.
        case purchasesComplete
        case merged
        case unmerged
        case linked
        case unlinked
        /// An acquisition moved to another user, with its promises.
        case transferred
        /// The customer uses more devices than the limit.
        case manyDevices
        /// A publication ended promises.
        case promisesEnded
        /// A rollback restored promises.
        case promisesRestored
    }

    package let kind: Kind
    package let at: Date
    /// The name of the admin key that caused the event; nil for the service itself.
    package let actor: String?
    package let detail: [String: String]

    init(_ kind: Kind, at: Date, actor: String? = nil, detail: [String: String] = [:]) {
        self.kind = kind
        self.at = at.toMillisecond
        self.actor = actor
        self.detail = detail
    }
}
