package import Foundation
package import TenureCore

/// A customer as an example in the report of a rehearsal (a dry run of a policy), with the facts that explain the
/// change.
package struct Example: Sendable, Hashable {
    let customer: RehearsedCustomer
    /// The answer under the new policy.
    package let now: Answer
    /// The answer under the old policy; nil if there is no old policy.
    package let before: Answer?

    /// The ID from Apple, from the evidence file, or from the database. Reports show it only if they show IDs.
    package var id: String { customer.id }
    /// The smallest `id` in the customer's lines of the evidence file; nil if no line has an `id`.
    var exportedID: String? { customer.exportedID }
    /// The platform on which the customer got the app; nil if it is unknown.
    package var platform: Platform? { customer.place.platform }
    /// The version with which the customer got the app, as signed, and shortened if it is too long to read.
    package var originalAppVersion: String? { customer.originalAppVersion.map { String($0.prefix(40)) } }
    /// When the customer got the app; nil if it is unknown.
    package var originalPurchaseDate: Date? { customer.originalPurchaseDate }
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
        return customer.precedes(last.customer)
    }

    /// Adds the example if its rank is low enough. If there are too many examples, the one with the highest rank is
    /// removed.
    mutating func offer(_ example: Example) {
        let index = all.firstIndex { example.customer.precedes($0.customer) } ?? all.count
        guard index < limit else { return }
        all.insert(example, at: index)
        if all.count > limit { all.removeLast() }
    }

    mutating func add(_ other: Examples) { for example in other.all { offer(example) } }

    /// The highest rank with which a customer can still become an example; nil while any customer can.
    var highestRank: UInt64? { all.count < limit ? nil : all.last?.customer.rank }
}
