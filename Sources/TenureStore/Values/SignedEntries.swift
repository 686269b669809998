package import Foundation

/// Some of what was signed of one member of the record, in the order in which it came.
package struct SignedEntries: Sendable {
    /// How far they go: the numbers of the last ones in the ledger.
    package struct Position: Sendable, Hashable {
        package var artifact: Int64 = 0
        package var notification: Int64 = 0

        package init() {}
    }

    /// Whose they are, for messages.
    package let publicID: String
    package let artifacts: [(artifact: Artifact, receivedAt: Date)]
    package let notifications: [(notification: StoredNotification, receivedAt: Date)]
    package let end: Position

    package var isEmpty: Bool { artifacts.isEmpty && notifications.isEmpty }
}

/// How facts are made of what was signed, where customers who were one part again.
package struct Rederivation: Sendable {
    /// What the entries of a member prove, up to a place in the ledger.
    package struct Proven: Sendable {
        package private(set) var facts = CustomerFacts()
        package private(set) var end = SignedEntries.Position()

        package init() {}

        /// - Parameter more: what each page proves. All at once, because each addition costs as much as all that is known.
        package mutating func add(_ more: [CustomerFacts], upTo end: SignedEntries.Position) {
            facts.add(more)
            self.end = end
        }
    }

    /// By the member's number, found out before the transaction: signatures take their time, and all who write wait.
    package var proven: [Int64: Proven] = [:]
    /// Verifies entries: those that came in between.
    package let prove: @Sendable (SignedEntries) throws(StoreError) -> CustomerFacts

    package init(_ prove: @escaping @Sendable (SignedEntries) throws(StoreError) -> CustomerFacts) {
        self.prove = prove
    }

    /// So many entries are in memory at once.
    package static let pageSize = 200
}

extension CustomerChange {
    /// Whether customers who are one may part by it.
    package var mayPart: Bool {
        switch self {
        case .unlink, .unmerge, .link(_, .newest): true
        case .grant, .revoke, .link, .merge, .erase: false
        }
    }
}
