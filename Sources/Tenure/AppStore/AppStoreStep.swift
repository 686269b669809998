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
