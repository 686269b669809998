extension Tenure {
    /// One source that the client reads to decide about entitlements, with the result of reading it.
    public struct AppStoreStep: Sendable, Hashable {
        /// The sources that the client reads.
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
            /// The source wasn't read, for this reason.
            case skipped(String)
            /// Reading the source failed, for this reason. The client tries again.
            case failed(String)
        }

        /// The source that the step reads.
        public let name: Name
        /// Whether reading the source succeeded, failed or was skipped.
        public let outcome: Outcome
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
