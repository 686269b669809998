package import Foundation

/// Something that happened to a customer and that no artifact says.
package struct StoredEvent: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// All of the customer's purchases were seen.
        case purchasesComplete
        case merged
        case unmerged
        case linked
        case unlinked
        /// To another user, with its promises.
        case transferred
        /// More devices than the limit.
        case manyDevices
        case erased
        /// A publication took what was promised.
        case promisesEnded
        /// A rollback gave it back.
        case promisesRestored
    }

    package let kind: Kind
    package let at: Date
    /// Who did it: the name of a key; nil for the service itself.
    package let actor: String?
    package let detail: [String: String]

    package init(_ kind: Kind, at: Date, actor: String? = nil, detail: [String: String] = [:]) {
        self.kind = kind
        self.at = at.toMillisecond
        self.actor = actor
        self.detail = detail
    }
}
