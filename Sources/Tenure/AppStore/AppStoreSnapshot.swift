import TenureCore

/// What was read from the App Store since the app started.
struct AppStoreSnapshot: Sendable {
    /// The verified app transaction, which is also sent to the service. Nil if none was read.
    var appTransaction: AppStoreAppTransaction?
    /// All transactions of the customer, which are also sent to the service. Nil if the list may be incomplete: it
    /// wasn't read yet, reading it failed, or StoreKit couldn't verify a transaction.
    var transactions: [AppStoreTransaction]?
    var renewals: [AppStoreRenewal] = []
    /// Whether the state of all subscriptions was read.
    var knowsRenewals = false
    /// The sources that were read so far, each with the latest result.
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

extension Tenure {
    /// One source that the client reads to decide about entitlements, with the result of reading it.
    public struct AppStoreStep: Sendable, Hashable, CustomStringConvertible {
        /// The sources that the client reads.
        public enum Name: String, Sendable, Hashable, CaseIterable {
            /// The state that the device stored earlier.
            case localState
            /// The bundled policy, or a signed policy from the network.
            case policy
            /// `AppTransaction.shared`: when, where and as which version the customer got the app.
            case appTransaction
            /// StoreKit's transactions: purchases of products, and periods of subscriptions.
            case purchases
            /// The state of subscriptions: grace periods and failed charges.
            case renewals
            /// The legacy receipt in the app's bundle.
            case receipt
            /// The Tenure service, to which the client sends what it has read. There is no such step without a service.
            case service
        }

        /// The result of a step.
        public enum Outcome: Sendable, Hashable {
            /// The source was read, even if it had nothing.
            case done
            /// The source wasn't read, for this reason.
            case skipped(String)
            /// Reading the source failed, for this reason. The client tries again.
            case failed(String)
        }

        /// The source that the step reads.
        public let name: Name
        /// Whether reading the source succeeded, failed or was skipped.
        public let outcome: Outcome

        /// The step on one line for a log: `purchases: failed, the network connection was lost`.
        public var description: String {
            switch outcome {
            case .done: "\(name.rawValue): done"
            case .skipped(let why): "\(name.rawValue): skipped, \(why)"
            case .failed(let why): "\(name.rawValue): failed, \(why)"
            }
        }
    }
}
