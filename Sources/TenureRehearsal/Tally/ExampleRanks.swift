import TenureCore

/// The highest ranks with which customers can still become examples in the report (`Examples`). Each entitlement has
/// such a rank for each class of customers, and for each cause of a loss.
///
/// A customer's rank is a hash of the ID, and the customers with the lowest ranks become examples. With these numbers,
/// a rehearsal finds out early that most customers can't become examples.
struct ExampleRanks: Sendable {
    /// The ranks of each entitlement, in the order of the tally.
    private let byEntitlement: [EntitlementTally.Ranks]
    /// The ranks of entitlements that customers were promised, and that neither policy has.
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
