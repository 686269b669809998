/// What was read from the App Store since the app started, and the results of reading it and all other sources.
struct AppStoreSnapshot: Sendable {
    /// The verified app transaction, which is also sent to the service. Nil if none was read.
    var appTransaction: AppStoreAppTransaction?
    /// All transactions of the customer, which are also sent to the service. Nil if the list may be incomplete: it
    /// wasn't read yet, reading it failed, or StoreKit couldn't verify a transaction.
    var transactions: [AppStoreTransaction]?
    var renewals: [AppStoreRenewal] = []
    /// Whether the state of all subscriptions was read.
    var knowsRenewals = false
    /// The latest result of each source that the client has tried to read.
    var steps: [Tenure.AppStoreStep] = []

    /// Whether all purchases were read, with the state of their subscriptions.
    var knowsPurchases: Bool { transactions != nil && knowsRenewals }

    /// Whether reading a source failed, so that reading all sources again may help.
    var shouldReadAgain: Bool {
        // Ignore failures of the local state and of the policy, because reading the App Store again can't fix them. The
        // client writes the state again with the next change, and fetches the policy once a day.
        steps.contains { if case .failed = $0.outcome { ![.localState, .policy].contains($0.name) } else { false } }
    }

    /// Records the result of reading a source. It replaces an earlier result of the same source.
    mutating func note(_ name: Tenure.AppStoreStep.Name, _ outcome: Tenure.AppStoreStep.Outcome) {
        let step = Tenure.AppStoreStep(name: name, outcome: outcome)
        if let index = steps.firstIndex(where: { $0.name == name }) { steps[index] = step } else { steps.append(step) }
    }
}
