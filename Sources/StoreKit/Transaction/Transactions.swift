extension Transaction {
    /// Transactions, each with the result of its verification; what is unverified stays among them.
    public struct Transactions: AsyncSequence, Sendable {
        public typealias Element = VerificationResult<Transaction>

        /// Which of what the device has; nil: those that come from now on.
        let selection: TransactionSelection?
        let store: LocalStore?

        public struct AsyncIterator: AsyncIteratorProtocol {
            let selection: TransactionSelection?
            let store: LocalStore?
            var chosen: ArraySlice<VerificationResult<Transaction>>?
            var cursor = NewsCursor<Transaction>()

            public mutating func next() async -> VerificationResult<Transaction>? {
                guard let store else { return nil }
                guard let selection else { return await store.nextUpdate(&cursor) }
                if chosen == nil { chosen = await store.transactions(selection)[...] }
                return chosen?.popFirst()
            }
        }

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(selection: selection, store: store) }
    }

    /// All of the customer's, the newest first. Consumables that the app finished are left out, unless the app's
    /// Info.plist says `SKIncludeConsumableInAppPurchaseHistory`, or they were refunded.
    public static var all: Transactions { Transactions(selection: .all, store: LocalStore.current) }

    /// All of one product.
    public static func all(for productID: String) -> Transactions {
        Transactions(selection: .allOf(productID), store: LocalStore.current)
    }

    /// What the customer may use now: lifetime purchases, the running period of each subscription (grace period
    /// included), and the latest transaction of each non-renewing subscription, however old.
    ///
    /// Refunded, revoked, upgraded and expired ones are not among them, and no consumables. While the App Store cannot
    /// be reached it comes from what the device has.
    public static var currentEntitlements: Transactions {
        Transactions(selection: .entitlements, store: LocalStore.current)
    }

    /// The same of one product.
    public static func currentEntitlements(for productID: String) -> Transactions {
        Transactions(selection: .entitlementsTo(productID), store: LocalStore.current)
    }

    /// The same of one product, the latest of them; nil if there is none.
    public static func currentEntitlement(for productID: String) async -> VerificationResult<Transaction>? {
        await LocalStore.current?.transactions(.entitlementsTo(productID)).first
    }

    /// The customer's latest of one product, in whatever state; nil where it was never bought.
    public static func latest(for productID: String) async -> VerificationResult<Transaction>? {
        await LocalStore.current?.transactions(.allOf(productID)).first
    }

    /// What the app has not finished.
    public static var unfinished: Transactions { Transactions(selection: .unfinished, store: LocalStore.current) }

    /// First what is unfinished, then everything that happens outside of this app's own purchases: renewals, refunds,
    /// purchases on other devices, approvals, what the family shares and no longer shares.
    ///
    /// Each listener gets all of it. It ends only when the task that listens is cancelled.
    public static var updates: Transactions { Transactions(selection: nil, store: LocalStore.current) }
}

/// Which of the device's transactions are wanted.
enum TransactionSelection: Sendable, Hashable {
    case all
    case allOf(String)
    case entitlements
    case entitlementsTo(String)
    case unfinished
}
