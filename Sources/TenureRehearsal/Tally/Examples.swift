package import Foundation
package import TenureCore

/// A customer whom a rehearsal counts: how reports name the customer, and the rows and bars in which reports count the
/// customer.
package struct RehearsedCustomer: Sendable, Hashable {
    /// An ID from Apple, from the evidence file, or from the database. Only reports with IDs show it.
    let id: String
    /// The smallest `id` in the customer's lines of the evidence file; nil if no line has an `id`.
    let exportedID: String?
    /// The hash of the ID. The customers with the lowest ranks become examples.
    let rank: UInt64
    /// The platform, version and month of getting the app.
    let place: Place
    /// The version with which the customer first got the app, as signed; nil if it is unknown.
    let originalAppVersion: String?
    /// When the customer first got the app; nil if it is unknown.
    let originalPurchaseDate: Date?

    package init(id: String, exportedID: String? = nil, _ evidence: Evidence) {
        self.id = id
        self.exportedID = exportedID
        rank = StableHash.of(id)
        place = Place(of: evidence)
        let acquisition = evidence.acquisitions.first
        originalAppVersion = acquisition?.originalAppVersion
        originalPurchaseDate = acquisition?.originalPurchaseDate
    }

    /// Whether this customer becomes an example rather than the other one.
    func precedes(_ other: RehearsedCustomer) -> Bool { (rank, id) < (other.rank, other.id) }
}

/// A customer as an example in the report, with the facts that explain the change.
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

/// The highest ranks with which customers can still become examples in the report, for each entitlement, and for each
/// class of customers or cause of a loss.
///
/// A customer's rank is a hash of the ID, and the customers with the lowest ranks become examples. With these numbers,
/// a rehearsal finds out early that most customers can't become examples.
struct ExampleRanks: Sendable {
    /// The ranks of each entitlement, in the order of the tally.
    private let byEntitlement: [EntitlementTally.Ranks]
    /// The ranks of entitlements that neither policy has and customers were promised.
    private let promisedOnly: [String: EntitlementTally.Ranks]

    init(of tally: Tally) {
        byEntitlement = tally.byEntitlement.map(\.ranks)
        promisedOnly = tally.promisedOnly.mapValues(\.ranks)
    }

    /// Returns the highest rank with which a customer with these effects can become an example of at least one effect.
    func highest(for effects: [Effect], on platform: Platform?) -> UInt64 {
        var highest: UInt64 = 0
        for (index, effect) in effects.enumerated() {
            let ranks: EntitlementTally.Ranks? =
                index < byEntitlement.count ? byEntitlement[index] : promisedOnly[effect.entitlement]
            for kind in effect.classes { highest = max(highest, ranks?.byClass[kind] ?? .max) }
            if let cause = LossCause(effect, on: platform) { highest = max(highest, ranks?.byCause[cause] ?? .max) }
        }
        return highest
    }
}

extension EntitlementTally {
    /// The highest ranks with which a customer can still become an example of one entitlement. A class or cause without
    /// a rank has room for any customer.
    fileprivate typealias Ranks = (byClass: [ExampleClass: UInt64], byCause: [LossCause: UInt64])

    /// The ranks up to which customers can still become examples of this entitlement.
    fileprivate var ranks: Ranks {
        (examples.compactMapValues(\.highestRank), losses.compactMapValues(\.examples.highestRank))
    }
}
