extension Tenure {
    /// One step on the way to an answer, and what came of it.
    public struct StoreStep: Sendable, Hashable {
        public enum Name: String, Sendable, Hashable, CaseIterable {
            /// What the device kept from the last time.
            case localState
            case policy
            case appTransaction
            case purchases
            /// The state of subscriptions: grace periods and failed charges.
            case renewals
            case receipt
            case service
        }

        public enum Outcome: Sendable, Hashable {
            case done
            /// Not tried, and why.
            case skipped(String)
            /// Tried, and why it gave nothing. It is tried again.
            case failed(String)
        }

        public let name: Name
        public let outcome: Outcome

        init(_ name: Name, _ outcome: Outcome) {
            self.name = name
            self.outcome = outcome
        }
    }
}

extension Tenure.StoreStep: CustomStringConvertible {
    public var description: String {
        switch outcome {
        case .done: "\(name.rawValue): done"
        case .skipped(let why): "\(name.rawValue): skipped, \(why)"
        case .failed(let why): "\(name.rawValue): failed, \(why)"
        }
    }
}
