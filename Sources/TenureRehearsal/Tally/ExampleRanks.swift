/// Up to which rank a customer is still an example, by entitlement and class: what is not here has room for anybody.
struct ExampleRanks: Sendable {
    private var byEntitlement: [[ExampleClass: UInt64]]
    private var promisedOnly: [String: [ExampleClass: UInt64]]

    init(of tally: Tally) {
        byEntitlement = tally.byEntitlement.map(\.ranks)
        promisedOnly = tally.promisedOnly.mapValues(\.ranks)
    }

    /// Whoever has a higher rank is no example of any of these verdicts.
    func highest(of verdicts: [Verdict]) -> UInt64 {
        var highest: UInt64 = 0
        for (index, verdict) in verdicts.enumerated() {
            let ranks = index < byEntitlement.count ? byEntitlement[index] : promisedOnly[verdict.entitlement] ?? [:]
            for kind in verdict.classes { highest = max(highest, ranks[kind] ?? .max) }
        }
        return highest
    }
}

extension EntitlementTally {
    fileprivate var ranks: [ExampleClass: UInt64] {
        examples.compactMapValues { $0.all.count < $0.limit ? nil : $0.all.last?.rank }
    }
}
