public import TenureCore

extension Tenure {
    /// What is known of the customer at one moment.
    public struct Customer: Sendable, Hashable {
        /// By name. Empty until anything is known.
        public let answers: [String: Answer]
        /// What the App Store says of how the app was acquired: the raw facts.
        public let acquisition: Acquisition?
        /// Where those facts were signed; nil while nothing is known.
        public let environment: AppStoreEnvironment?
        public let distribution: Distribution
        /// What was done for this answer, and what was not, and why.
        public let steps: [StoreStep]
        /// Whether everything that can be asked was asked since the app started. Until then a missing right means
        /// nothing.
        public let isComplete: Bool

        init(
            answers: [String: Answer] = [:], acquisition: Acquisition? = nil, environment: AppStoreEnvironment? = nil,
            distribution: Distribution, steps: [StoreStep] = [], isComplete: Bool = false
        ) {
            self.answers = answers
            self.acquisition = acquisition
            self.environment = environment
            self.distribution = distribution
            self.steps = steps
            self.isComplete = isComplete
        }

        /// Whether an entitlement is granted, leaving out what a trial or the policy's patience allows.
        public func has(_ entitlement: String) -> Bool { answers[entitlement]?.outcome == .granted }
    }
}
