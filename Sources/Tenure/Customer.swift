public import TenureCore

extension Tenure {
    /// What the client (Tenure in this app) knows about the customer at one instant.
    public struct Customer: Sendable, Hashable {
        /// The decisions, by the entitlement's name. Empty until the client has decided for the first time.
        public internal(set) var answers: [String: Answer] = [:]
        /// When, where and as which version the customer first got the app, as the App Store signed it. Nil until it
        /// was read.
        public internal(set) var acquisition: Acquisition?
        /// The App Store environment that signed `acquisition`, such as production. Nil until it was read.
        public internal(set) var environment: AppStoreEnvironment?
        /// How this copy of the app was installed. Nil until the app's own files were read, right after the start.
        public internal(set) var distribution: Tenure.Distribution?
        /// The sources that the client has read for these answers, with the result of each.
        public internal(set) var steps: [Tenure.AppStoreStep] = []
        /// Whether the client is still reading the App Store and the service for the first time since the app started.
        /// Don't show a lock or a price while this is true. It becomes false after 15 seconds at most.
        public internal(set) var isResolving = true
        /// Why the policy can't be used. Nil if the policy can be used, or if the app has no policy.
        public internal(set) var policyError: Tenure.Error?
        /// Why an option in `Options` is invalid, such as an access group that the app doesn't have. The client ignores
        /// that option. Nil if all options are valid.
        public internal(set) var optionsError: Tenure.Error?
        /// What `allows(_:)` returns.
        var access = Access()

        /// Which entitlements the customer may use: a default for all entitlements, and the exceptions to it.
        struct Access: Sendable, Hashable {
            var isAllowedByDefault = false
            var exceptions: Set<String> = []

            func allows(_ entitlement: String) -> Bool { exceptions.contains(entitlement) != isAllowedByDefault }
        }

        /// Returns whether the customer could use the entitlement at the time of this snapshot: because of a granted
        /// right, a trial session, or the grace period for undetermined decisions. `Tenure.allows(_:)` returns the
        /// same, but waits while `isResolving` is true.
        public func allows(_ entitlement: String) -> Bool { access.allows(entitlement) }
    }
}
