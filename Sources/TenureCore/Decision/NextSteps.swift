/// What would resolve an undetermined decision.
public enum NextStep: String, Sendable, Hashable, CaseIterable {
    /// An app transaction of the customer (`AppTransaction.shared`).
    case appTransaction
    /// A refreshed receipt, which has version and date. Refreshing needs a tap by the customer.
    case refreshedReceipt
    /// The complete list of purchases: StoreKit's enumeration, or a tap on Restore Purchases.
    case purchases
    /// A support person, because no signed artifact can resolve it.
    case support
}

/// Next steps in order, each once.
struct NextSteps {
    private(set) var list: [NextStep] = []

    mutating func add(_ steps: [NextStep]) {
        for step in steps where !list.contains(step) { list.append(step) }
    }
}

extension EraSource {
    /// Rule G2: what would resolve this acquisition's undetermined answer.
    func nextSteps(resolving finding: Finding) -> [NextStep] {
        if case .boughtAgainInDoubt = finding { return [.support] }
        if acquisition.version == nil || acquisition.originalPurchaseDate == nil {
            return [.appTransaction, .refreshedReceipt]
        }
        return timelines.count > 1 ? [.appTransaction, .support] : [.support]
    }
}
