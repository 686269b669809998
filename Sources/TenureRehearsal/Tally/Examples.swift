package import Foundation
package import TenureCore

/// A customer as an example in the report, with the facts that explain the change.
package struct Example: Sendable, Hashable {
    /// The ID as in `RehearsedCustomer`.
    package let id: String
    let exportedID: String?
    /// The hash of the ID, by which examples are chosen.
    let rank: UInt64
    package let platform: Platform?
    /// The version as signed, shortened if it is too long to read.
    package let originalAppVersion: String?
    package let originalPurchaseDate: Date?
    package let now: Answer
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

/// The examples of one class: the few customers with the smallest hashes. So the order of customers doesn't matter.
package struct Examples: Sendable, Hashable {
    /// The maximum number of examples.
    let limit: Int
    /// The examples in the order of their hashes.
    package private(set) var all: [Example] = []

    /// Whether the customer would become an example.
    func admits(_ customer: RehearsedCustomer) -> Bool {
        guard all.count >= limit, let last = all.last else { return limit > 0 }
        return (customer.rank, customer.id) < (last.rank, last.id)
    }

    /// Adds the example if its hash is small enough. An example with a larger hash may then drop out.
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
