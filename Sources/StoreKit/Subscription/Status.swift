extension Product.SubscriptionInfo {
    /// The status of one subscription of the customer.
    public struct Status: Equatable, Hashable, Sendable {
        /// The state at the device's current time, so a period may have ended since the last contact with the App
        /// Store.
        public let state: RenewalState
        /// The latest transaction of the subscription.
        public let transaction: VerificationResult<Transaction>
        /// What happens at the end of the current period: whether, when and at which price it renews.
        public let renewalInfo: VerificationResult<RenewalInfo>

        var groupID: String { transaction.unsafePayloadValue.subscriptionGroupID ?? "" }
        var originalID: UInt64 { transaction.unsafePayloadValue.originalID }

        /// Delivers each change of a subscription from now on.
        public static var updates: Statuses { Statuses(store: LocalStore.current) }

        /// The statuses of the subscriptions, group after group. Ends after the last group.
        public static var all: AsyncStream<(groupID: String, statuses: [Status])> {
            let store = LocalStore.current
            let groups = GroupedStatuses(store: store)
            return AsyncStream { await groups.next() }
        }

        /// A sequence of statuses. It ends when the listening task is canceled, or if no local App Store is configured.
        public struct Statuses: AsyncSequence, Sendable {
            /// The new status of a subscription, after each change.
            public typealias Element = Status

            let store: LocalStore?

            /// One listener. Each listener gets every change after its first call of `next()`.
            public struct AsyncIterator: AsyncIteratorProtocol {
                let store: LocalStore?
                var cursor = ChangeLogCursor<ReceivedSubscription>()

                /// Waits for the next change. Returns nil at the end of the sequence.
                public mutating func next() async -> Status? { await store?.nextStatus(&cursor) }
            }

            /// Begins to listen, independently of other listeners.
            public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(store: store) }
        }
    }

    /// The state of a subscription. Only `subscribed` and `inGracePeriod` entitle the customer.
    public struct RenewalState: RawRepresentable, Equatable, Hashable, Sendable {
        /// The number that the App Store's server notifications have as `status`, even if there is no constant for it.
        public let rawValue: Int

        /// Accepts any number, because Apple may add states.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The current period runs, even if it won't renew.
        public static let subscribed = RenewalState(rawValue: 1)
        /// The last period has ended, and the App Store doesn't try to charge.
        public static let expired = RenewalState(rawValue: 2)
        /// The renewal couldn't be charged, and access has ended.
        public static let inBillingRetryPeriod = RenewalState(rawValue: 3)
        /// The renewal couldn't be charged, and access continues for a while.
        public static let inGracePeriod = RenewalState(rawValue: 4)
        /// The current period was refunded, or is no longer shared by the family.
        public static let revoked = RenewalState(rawValue: 5)

        /// English text by this package; Apple's text is localized.
        public var localizedDescription: String {
            switch self {
            case .subscribed: "subscribed"
            case .expired: "expired"
            case .inBillingRetryPeriod: "in billing retry period"
            case .inGracePeriod: "in grace period"
            case .revoked: "revoked"
            default: "unknown"
            }
        }
    }
}

/// Returns the subscription groups one by one. Asks the App Store when the first group is requested.
private actor GroupedStatuses {
    private let store: LocalStore?
    private var groups: ArraySlice<(groupID: String, statuses: [Product.SubscriptionInfo.Status])>?

    init(store: LocalStore?) { self.store = store }

    func next() async -> (groupID: String, statuses: [Product.SubscriptionInfo.Status])? {
        if groups == nil {
            let statuses = await store?.statuses() ?? []
            let byGroup = Dictionary(grouping: statuses, by: \.groupID)
            groups = byGroup.sorted { $0.key < $1.key }.map { (groupID: $0.key, statuses: $0.value) }[...]
        }
        return groups?.popFirst()
    }
}
