import TenureCore

/// The highest rank with which a customer can still become an example, by entitlement and class. If there is no entry,
/// any customer can become an example.
///
/// The customers with the lowest ranks become examples. With these numbers, most other customers are skipped early.
struct ExampleRanks: Sendable {
    /// The ranks by entitlement and class, in the order of the tally.
    private var ranks: [UInt64]
    /// The ranks of entitlements that only promises have.
    private var promisedOnly: [String: [ExampleClass: UInt64]]
    /// The ranks of losses, by the index of the entitlement, then by cause.
    private var losses: [[LossCause: UInt64]]
    /// The ranks of losses of entitlements that only promises have.
    private var promisedLosses: [String: [LossCause: UInt64]]

    /// The classes of examples that customers with the same effects can join.
    struct Chances: Sendable {
        /// Indexes in `ranks`.
        fileprivate let rankIndexes: [Int]
        /// Entitlements that only a promise has, with the classes.
        fileprivate let promised: [(String, [ExampleClass], LossCause?)]
        /// Indexes of lost entitlements, with the cause.
        fileprivate let losses: [(Int, LossCause)]

        init(_ effects: [Effect], on platform: Platform?, among entitlements: Int) {
            rankIndexes = effects.prefix(entitlements).enumerated().flatMap { index, effect in
                effect.classes.map { index * ExampleClass.count + $0.number }
            }
            promised = effects.dropFirst(entitlements).map {
                ($0.entitlement, $0.classes, LossCause($0, on: platform))
            }
            losses = effects.prefix(entitlements).enumerated().compactMap { index, effect in
                LossCause(effect, on: platform).map { (index, $0) }
            }
        }
    }

    init(of tally: Tally) {
        ranks = Array(repeating: .max, count: tally.byEntitlement.count * ExampleClass.count)
        for (index, entitlement) in tally.byEntitlement.enumerated() {
            for (kind, rank) in entitlement.ranks { ranks[index * ExampleClass.count + kind.number] = rank }
        }
        promisedOnly = tally.promisedOnly.mapValues(\.ranks)
        losses = tally.byEntitlement.map(\.lossRanks)
        promisedLosses = tally.promisedOnly.mapValues(\.lossRanks)
    }

    /// Returns the highest rank with which a customer can join at least one of these classes.
    func highest(of chances: Chances) -> UInt64 {
        var highest: UInt64 = 0
        for index in chances.rankIndexes { highest = max(highest, ranks[index]) }
        for (entitlement, classes, cause) in chances.promised {
            let ranks = promisedOnly[entitlement] ?? [:]
            for kind in classes { highest = max(highest, ranks[kind] ?? .max) }
            if let cause { highest = max(highest, promisedLosses[entitlement]?[cause] ?? .max) }
        }
        for (entitlement, cause) in chances.losses { highest = max(highest, losses[entitlement][cause] ?? .max) }
        return highest
    }
}

extension EntitlementTally {
    fileprivate var ranks: [ExampleClass: UInt64] {
        examples.compactMapValues(\.highestRank)
    }

    fileprivate var lossRanks: [LossCause: UInt64] { losses.compactMapValues(\.examples.highestRank) }
}

extension Examples {
    /// The highest rank with which a customer can still become an example; nil while any customer can.
    fileprivate var highestRank: UInt64? { all.count < limit ? nil : all.last?.rank }
}

extension ExampleClass {
    fileprivate static let count = 8

    /// The index of the class, which is less than `count`.
    fileprivate var number: Int {
        switch self {
        case .outcome(.granted): 0
        case .outcome(.denied): 1
        case .outcome(.undetermined): 2
        case .change(.gains): 3
        case .change(.loses): 4
        case .change(.changesReason): 5
        case .change(.same): 6
        case .change(.changesOutcome): 7
        }
    }
}
