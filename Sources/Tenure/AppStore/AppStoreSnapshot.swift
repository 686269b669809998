import TenureCore

/// What was read from the App Store since the app started.
struct AppStoreSnapshot: Sendable {
    /// The signed app transaction, for the service.
    var appTransaction: AppStoreAppTransaction?
    /// All verified transactions, to be sent to the service. Nil if the list is incomplete.
    var transactions: [AppStoreTransaction]?
    var renewals: [AppStoreRenewal] = []
    /// Whether the state of all subscriptions was read.
    var knowsRenewals = false
    var steps: [Tenure.AppStoreStep] = []

    /// Whether all purchases were read, with the state of their subscriptions.
    var knowsPurchases: Bool { transactions != nil && knowsRenewals }

    /// Whether reading a source failed, and a new search may read that source.
    var shouldReadAgain: Bool {
        // Ignore failures of the local state and of the policy, because reading the App Store again can't fix them. The
        // client writes the state again with the next change, and fetches the policy once a day.
        steps.contains { if case .failed = $0.outcome { ![.localState, .policy].contains($0.name) } else { false } }
    }

    /// Records the outcome of a step. It replaces an earlier outcome of the same step.
    mutating func note(_ name: Tenure.AppStoreStep.Name, _ outcome: Tenure.AppStoreStep.Outcome) {
        let step = Tenure.AppStoreStep(name: name, outcome: outcome)
        if let place = steps.firstIndex(where: { $0.name == name }) { steps[place] = step } else { steps.append(step) }
    }
}
