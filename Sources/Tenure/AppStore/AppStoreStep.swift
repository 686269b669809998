extension Tenure {
    /// One step of the search for an answer, with its result.
    public struct AppStoreStep: Sendable, Hashable {
        /// The sources that a search reads.
        public enum Name: String, Sendable, Hashable, CaseIterable {
            /// The state that the device stored earlier.
            case localState
            case policy
            case appTransaction
            case purchases
            /// The state of subscriptions: grace periods and failed charges.
            case renewals
            case receipt
            case service
        }

        /// The result of a step.
        public enum Outcome: Sendable, Hashable {
            case done
            /// The step wasn't tried, for this reason.
            case skipped(String)
            /// The step failed, for this reason. It will be tried again.
            case failed(String)
        }

        /// The source that the step reads.
        public let name: Name
        /// Whether the step succeeded.
        public let outcome: Outcome

        init(_ name: Name, _ outcome: Outcome) {
            self.name = name
            self.outcome = outcome
        }
    }
}

extension Tenure.AppStoreStep: CustomStringConvertible {
    /// The step on one line for a log: `purchases: failed, the network connection was lost`.
    public var description: String {
        switch outcome {
        case .done: "\(name.rawValue): done"
        case .skipped(let why): "\(name.rawValue): skipped, \(why)"
        case .failed(let why): "\(name.rawValue): failed, \(why)"
        }
    }
}
