import TenureCore

/// The highest rank with which a customer can still become an example, by entitlement, and by class or cause of a loss.
///
/// The customers with the lowest ranks become examples. With these numbers, most other customers are skipped early.
struct ExampleRanks: Sendable {
    /// The ranks of each entitlement, in the order of the tally.
    private let byEntitlement: [EntitlementTally.Ranks]
    /// The ranks of entitlements that only promises have.
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
    fileprivate struct Ranks: Sendable {
        let byClass: [ExampleClass: UInt64]
        let byCause: [LossCause: UInt64]
    }

    fileprivate var ranks: Ranks {
        Ranks(
            byClass: examples.compactMapValues(\.highestRank), byCause: losses.compactMapValues(\.examples.highestRank))
    }
}

extension Examples {
    /// The highest rank with which a customer can still become an example; nil while any customer can.
    fileprivate var highestRank: UInt64? { all.count < limit ? nil : all.last?.rank }
}
