import TenureJSON

/// The changes that the App Store has reported to a device, in order. Each listener of a sequence such as
/// `Transaction.updates` reads this log at a separate position.
struct ChangeLog: Sendable {
    /// The changes of one kind of element.
    struct Changes<Element: Sendable>: Sendable {
        /// The changed elements since the process started.
        var changes: [Element] = []
        /// The elements that a new listener gets first: unfinished transactions. Always empty for statuses and
        /// storefronts.
        var backlog: [Element] = []
    }

    var transactions = Changes<Transaction>()
    var statuses = Changes<ReceivedSubscription>()
    var storefronts = Changes<Storefront>()

    /// The content of each transaction in the App Store's last report, by transaction ID. A transaction has changed if
    /// the next report has other content. Nil before the first report about a customer.
    private(set) var knownTransactions: [UInt64: JSONObject]?
    /// The content of each subscription in the last report, by the ID of the subscription's first transaction.
    private var knownSubscriptions: [UInt64: [JSONObject]] = [:]
    private var knownStorefront: Storefront?
    /// Whether another customer was signed in before. If so, listeners have read their backlog already, so the new
    /// customer's unfinished transactions are added as changes.
    private var hadAnotherCustomer = false

    /// Prepares for another customer. Their existing purchases aren't changes, but unfinished transactions are.
    mutating func forgetCustomer() {
        hadAnotherCustomer = true
        knownTransactions = nil
        knownSubscriptions = [:]
        transactions.backlog = []
    }

    /// Compares a report of the App Store with the report before it, and adds the changes to the log. Returns whether
    /// there are changes.
    ///
    /// - Parameters:
    ///   - contents: the new report.
    ///   - isReturnedByPurchase: whether this device is buying the product, so that `purchase()` returns the
    ///     transaction instead of `updates`.
    ///   - isOwn: whether a purchase on this device created the transaction.
    mutating func update(
        _ contents: DeviceContents, isReturnedByPurchase: (Transaction) -> Bool, isOwn: (Transaction) -> Bool
    ) -> Bool {
        let isFirstReport = knownTransactions == nil
        var known = knownTransactions ?? [:]
        let countsBefore = (transactions.changes.count, statuses.changes.count, storefronts.changes.count)
        // Report the oldest transactions first. Leave out a new transaction that `purchase()` returns. A later change
        // of that transaction, such as a refund, is reported.
        for received in contents.transactions.reversed()
        where !isReturnedByPurchase(received.value) || (!isFirstReport && known[received.value.id] != nil) {
            let reported = received.value.signedText.contents
            let isChange =
                if isFirstReport {
                    hadAnotherCustomer && !received.isFinished
                } else if let knownContents = known[received.value.id] {
                    knownContents != reported
                } else {
                    !isOwn(received.value)
                }
            if isChange { transactions.changes.append(received.value) }
            known[received.value.id] = reported
        }
        knownTransactions = known
        transactions.backlog = contents.transactions.reversed()
            .filter { !$0.isFinished && !isOwn($0.value) && !isReturnedByPurchase($0.value) }.map(\.value)
        for subscription in contents.subscriptions {
            let reported = subscription.contents
            let id = subscription.transaction.originalID
            if !isFirstReport, knownSubscriptions[id] != reported { statuses.changes.append(subscription) }
            knownSubscriptions[id] = reported
        }
        if let storefront = contents.storefront {
            if let knownStorefront, knownStorefront != storefront { storefronts.changes.append(storefront) }
            knownStorefront = storefront
        }
        return countsBefore != (transactions.changes.count, statuses.changes.count, storefronts.changes.count)
    }
}

/// How far a listener has read the `ChangeLog`.
struct ChangeLogCursor<Element: Sendable>: Sendable {
    /// The index of the next element in `Changes.changes`; nil before the listener began.
    var position: Int?
    /// The elements of the backlog that the listener hasn't read yet.
    var backlog: ArraySlice<Element> = []
}
