package import Foundation

/// Computes facts from signed artifacts and notifications (`SignedEntries`) when merged customers are separated again.
package struct Rederivation: Sendable {
    /// What the entries of a member prove, up to a position.
    package struct ProvenFacts: Sendable {
        package private(set) var facts = CustomerFacts()
        /// The position after the last entry that was verified.
        private(set) var end = SignedEntries.Position()

        package init() {}

        /// Adds what further pages prove.
        ///
        /// - Parameters:
        ///   - more: what each page proves. Add all pages in one call, because each call processes all known facts
        ///     again.
        ///   - end: the position after the last of these pages.
        package mutating func add(_ more: [CustomerFacts], upTo end: SignedEntries.Position) {
            facts.add(more)
            self.end = end
        }
    }

    /// What was verified before the transaction, by the member's row ID. Verifying many entries inside the transaction
    /// would block other writers.
    package var provenFacts: [Int64: ProvenFacts] = [:]
    /// Verifies entries and returns what they prove.
    package let prove: @Sendable (SignedEntries) throws(StoreError) -> CustomerFacts

    package init(_ prove: @escaping @Sendable (SignedEntries) throws(StoreError) -> CustomerFacts) {
        self.prove = prove
    }

    /// The maximum number of artifacts, and of notifications, in a page, so that few entries are in memory at once.
    package static let pageSize = 200
}

/// A page of *signed entries*: the signed artifacts and notifications of one member of a customer (row of `customers`),
/// in the order of arrival.
package struct SignedEntries: Sendable {
    /// The end of a page: the row IDs of its last artifact and its last notification; 0 before the first.
    package struct Position: Sendable, Hashable {
        var artifact: Int64 = 0
        var notification: Int64 = 0

        package init() {}
    }

    /// The customer's public ID, for messages.
    package let publicID: String
    package let artifacts: [(artifact: Artifact, receivedAt: Date)]
    package let notifications: [(notification: StoredNotification, receivedAt: Date)]
    /// The position after this page, where the next page begins.
    package let end: Position

    package var isEmpty: Bool { artifacts.isEmpty && notifications.isEmpty }
}

extension CustomerChange {
    /// Whether this change may separate merged customers.
    package var maySeparateCustomers: Bool {
        switch self {
        case .unlink, .unmerge, .link(_, .newest): true
        case .grant, .revoke, .link, .merge, .erase: false
        }
    }
}
