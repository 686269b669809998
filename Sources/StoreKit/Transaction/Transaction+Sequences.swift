/// The sequences of the customer's transactions, such as `Transaction.currentEntitlements`.
extension Transaction {
    /// Transactions, each with the result of its verification. Unverified transactions are included.
    public struct Transactions: AsyncSequence, Sendable {
        /// A transaction, and whether the device could verify it. Check the result before you use the transaction.
        public typealias Element = VerificationResult<Transaction>

        /// Which of the device's transactions are requested. Nil for `updates`.
        let selection: TransactionSelection?
        let store: LocalStore?

        /// One listener, or one pass over the transactions that the device has at the first call of `next()`.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let selection: TransactionSelection?
            let store: LocalStore?
            var chosen: ArraySlice<VerificationResult<Transaction>>?
            var cursor = ChangeLogCursor<Transaction>()

            /// Returns the next transaction. For `updates`, waits for it, and returns nil only if the task is canceled,
            /// or if no local App Store is configured.
            public mutating func next() async -> VerificationResult<Transaction>? {
                guard let store else { return nil }
                guard let selection else { return await store.nextUpdate(&cursor) }
                if chosen == nil { chosen = await store.transactions(selection)[...] }
                return chosen?.popFirst()
            }
        }

        /// Begins another pass or listener, independently of all others.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(selection: selection, store: store) }
    }

    /// All transactions of the customer, the newest first. Consumables that the app finished are left out, unless the
    /// app's Info.plist has `SKIncludeConsumableInAppPurchaseHistory`, or they were refunded.
    public static var all: Transactions { Transactions(selection: .all, store: LocalStore.current) }

    /// All transactions of one product, the newest first. Leaves out the same transactions as `all`.
    public static func all(for productID: String) -> Transactions {
        Transactions(selection: .allOf(productID), store: LocalStore.current)
    }

    /// The transactions that entitle the customer now: lifetime purchases, the running period of each subscription
    /// (grace period included), and the latest transaction of each non-renewing subscription, however old. Refunded,
    /// revoked, upgraded and expired transactions are left out, and so are consumables. While the App Store can't be
    /// reached, the stored transactions are used.
    public static var currentEntitlements: Transactions {
        Transactions(selection: .entitlements, store: LocalStore.current)
    }

    /// The transaction of one product that entitles the customer now. Empty if no transaction does.
    public static func currentEntitlements(for productID: String) -> Transactions {
        Transactions(selection: .entitlementsTo(productID), store: LocalStore.current)
    }

    /// The transaction of one product that entitles the customer now; nil if no transaction does.
    public static func currentEntitlement(for productID: String) async -> VerificationResult<Transaction>? {
        await LocalStore.current?.transactions(.entitlementsTo(productID)).first
    }

    /// The customer's latest transaction of one product, even if it is refunded or expired. Nil if the product was
    /// never bought.
    public static func latest(for productID: String) async -> VerificationResult<Transaction>? {
        await LocalStore.current?.transactions(.allOf(productID)).first
    }

    /// The transactions that the app hasn't finished.
    public static var unfinished: Transactions { Transactions(selection: .unfinished, store: LocalStore.current) }

    /// First the unfinished transactions, then everything that happens outside of this app's own purchases: renewals,
    /// refunds, purchases on other devices, approvals, and changes of Family Sharing. Each listener gets all these
    /// transactions. The sequence ends when the listening task is canceled, or if no local App Store is configured.
    public static var updates: Transactions { Transactions(selection: nil, store: LocalStore.current) }
}

/// A selection of the device's transactions, for the sequence of the same meaning.
enum TransactionSelection: Sendable, Hashable {
    /// `Transaction.all`.
    case all
    /// `Transaction.all(for:)`, with a product ID.
    case allOf(String)
    /// `Transaction.currentEntitlements`.
    case entitlements
    /// `Transaction.currentEntitlements(for:)`, with a product ID.
    case entitlementsTo(String)
    /// `Transaction.unfinished`.
    case unfinished
}
