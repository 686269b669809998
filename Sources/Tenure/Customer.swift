public import TenureCore

extension Tenure {
    /// What is known about the customer at one instant.
    public struct Customer: Sendable, Hashable {
        /// The decisions, by the name of the entitlement. Empty until anything is known.
        public let answers: [String: Answer]
        /// How the app was acquired, as the App Store signed it. Nil until it was read.
        public let acquisition: Acquisition?
        /// The App Store environment that signed the acquisition. Nil until it was read.
        public let environment: AppStoreEnvironment?
        /// How this copy of the app was installed. Nil until the app's own files were read, right after the start.
        public let distribution: Tenure.Distribution?
        /// Each step that led to these answers, with its outcome.
        public let steps: [Tenure.AppStoreStep]
        /// Whether the first search since the app started is still running. Show neither a lock nor a price until it
        /// ends, after 15 seconds at most.
        public let isResolving: Bool
        /// Why the policy can't be used. Nil if it can, or if the app has none.
        public let policyError: Tenure.Error?
        /// Why `Options` can't be used as set, such as an access group that the app lacks. The client then ignores that
        /// option. Nil: they can be used.
        public let optionsError: Tenure.Error?
        let access: Access

        /// Which entitlements may be used: the default, and the names that differ from it.
        struct Access: Sendable, Hashable {
            var isAllowedByDefault = false
            var exceptions: Set<String> = []

            func allows(_ entitlement: String) -> Bool {
                exceptions.contains(entitlement) != isAllowedByDefault
            }
        }

        init(
            answers: [String: Answer] = [:], acquisition: Acquisition? = nil, environment: AppStoreEnvironment? = nil,
            distribution: Tenure.Distribution? = nil, steps: [Tenure.AppStoreStep] = [], isResolving: Bool = true,
            policyError: Tenure.Error? = nil, optionsError: Tenure.Error? = nil, access: Access = Access()
        ) {
            self.answers = answers
            self.acquisition = acquisition
            self.environment = environment
            self.distribution = distribution
            self.steps = steps
            self.isResolving = isResolving
            self.policyError = policyError
            self.optionsError = optionsError
            self.access = access
        }

        /// Returns whether the customer could use the entitlement at this instant: by right, in a trial session, or during
        /// the grace period while the decision is undetermined. `Tenure.allows(_:)` returns the same, but waits while
        /// `isResolving` is true.
        public func allows(_ entitlement: String) -> Bool { access.allows(entitlement) }

        /// The same customer with other access and another state of the search.
        func with(access: Access, isResolving: Bool) -> Customer {
            Customer(
                answers: answers, acquisition: acquisition, environment: environment, distribution: distribution,
                steps: steps, isResolving: isResolving, policyError: policyError, optionsError: optionsError,
                access: access)
        }
    }
}
