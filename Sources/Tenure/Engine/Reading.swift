import TenureCore

/// What was read from the store since the app started.
struct Reading: Sendable {
    /// As it was signed, for the service.
    var appTransaction: StoreAppTransaction?
    /// All that was listed and counts, for the service; nil: it was not listed whole.
    var transactions: [StoreTransaction]?
    var renewals: [StoreRenewal] = []
    /// Whether the state of the subscriptions was read, where there are any.
    var knowsRenewals = false
    var steps: [Tenure.StoreStep] = []

    /// Whether nothing that purchases could give was left out.
    var knowsPurchases: Bool { transactions != nil && knowsRenewals }

    var failed: Bool {
        // The state is made anew, and a policy is asked for once a day: neither is worth another look at the store.
        steps.contains { if case .failed = $0.outcome { ![.localState, .policy].contains($0.name) } else { false } }
    }

    mutating func note(_ name: Tenure.StoreStep.Name, _ outcome: Tenure.StoreStep.Outcome) {
        let step = Tenure.StoreStep(name, outcome)
        if let place = steps.firstIndex(where: { $0.name == name }) { steps[place] = step } else { steps.append(step) }
    }
}
