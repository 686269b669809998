package import Foundation
package import TenureCore

/// A customer as an example in the report, with the facts that explain the change.
package struct Example: Sendable, Hashable {
    /// The ID from Apple, from the evidence file, or from the database. Reports show it only if they show IDs.
    package let id: String
    /// The smallest `id` in the customer's lines of the evidence file; nil if no line has an `id`.
    let exportedID: String?
    /// The hash of the ID. The customers with the lowest ranks become examples.
    let rank: UInt64
    /// The platform on which the customer got the app; nil if it is unknown.
    package let platform: Platform?
    /// The version with which the customer got the app, as signed, and shortened if it is too long to read.
    package let originalAppVersion: String?
    /// When the customer got the app; nil if it is unknown.
    package let originalPurchaseDate: Date?
    /// The answer under the new policy.
    package let now: Answer
    /// The answer under the old policy; nil if there is no old policy.
    package let before: Answer?

    init(_ customer: RehearsedCustomer, _ effect: Effect) {
        id = customer.id
        exportedID = customer.exportedID
        rank = customer.rank
        platform = customer.acquisition?.originalPlatform
        originalAppVersion = customer.acquisition?.originalAppVersion.map { String($0.prefix(40)) }
        originalPurchaseDate = customer.acquisition?.originalPurchaseDate
        now = effect.now
        before = effect.before
    }
}

/// The examples of one class of customers: the few customers with the lowest ranks. A rank is a hash of the ID, so the
/// choice doesn't depend on the order of the input.
package struct Examples: Sendable, Hashable {
    /// The maximum number of examples.
    let limit: Int
    /// The examples in the order of their ranks.
    package private(set) var all: [Example] = []

    /// Whether the customer would become an example: there are fewer than `limit`, or another one has a higher rank.
    func admits(_ customer: RehearsedCustomer) -> Bool {
        guard all.count >= limit, let last = all.last else { return limit > 0 }
        return (customer.rank, customer.id) < (last.rank, last.id)
    }

    /// Adds the example if its rank is low enough. If there are too many examples, the one with the highest rank is
    /// removed.
    mutating func offer(_ example: Example) {
        let index = all.firstIndex { (example.rank, example.id) < ($0.rank, $0.id) } ?? all.count
        guard index < limit else { return }
        all.insert(example, at: index)
        if all.count > limit { all.removeLast() }
    }

    mutating func add(_ other: Examples) {
        for example in other.all { offer(example) }
    }
}
