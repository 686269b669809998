import Foundation
import TenureAppStore
import TenureJSON

/// The change log of the device: the changes that the App Store has reported, in order. Each listener of `updates`
/// reads the log at a separate position.
struct ChangeLog: Sendable {
    /// The changes of one kind of element.
    struct Changes<Element: Sendable>: Sendable {
        /// The changed elements since the process started.
        var changes: [Element] = []
        /// The elements that a new listener gets first.
        var backlog: [Element] = []
    }

    var transactions = Changes<Transaction>()
    var statuses = Changes<ReceivedSubscription>()
    var storefronts = Changes<Storefront>()

    /// The last known state of each transaction, by ID. A different state is a change. Nil before the first report
    /// about a customer.
    private(set) var knownTransactions: [UInt64: JSONObject]?
    private var knownSubscriptions: [UInt64: [JSONObject]] = [:]
    private var knownStorefront: Storefront?
    /// Whether another customer was signed in before. Then listeners have read the backlog already, so the new
    /// customer's unfinished transactions are added as changes.
    private var hadAnotherCustomer = false

    /// Prepares for another customer. Their existing purchases aren't changes, but unfinished transactions are.
    mutating func forgetCustomer() {
        hadAnotherCustomer = true
        knownTransactions = nil
        knownSubscriptions = [:]
        transactions.backlog = []
    }

    /// Compares a report of the App Store with the known states, and adds the changes. Returns whether there are
    /// changes.
    ///
    /// - Parameters:
    ///   - contents: the report. Its states are the known states for the next call.
    ///   - isReturnedByPurchase: whether this device is buying the product, so that `purchase()` returns the
    ///     transaction instead of `updates`.
    ///   - isOwn: whether this device bought the transaction.
    mutating func update(
        _ contents: DeviceContents, isReturnedByPurchase: (Transaction) -> Bool, isOwn: (Transaction) -> Bool
    ) -> Bool {
        let isFirst = knownTransactions == nil
        let before = (transactions.changes.count, statuses.changes.count, storefronts.changes.count)
        // Report the oldest transactions first. Leave out a new transaction that `purchase()` returns. A later change
        // of that transaction, such as a refund, is reported.
        for held in contents.transactions.reversed()
        where !isReturnedByPurchase(held.value) || !isFirst && isKnown(held.value) {
            let reported = held.value.signedText.contents
            let knownState = knownTransactions?[held.value.id]
            let isChange =
                isFirst
                ? hadAnotherCustomer && !held.isFinished
                : knownState != reported && !(knownState == nil && isOwn(held.value))
            if isChange { transactions.changes.append(held.value) }
            knownTransactions = knownTransactions ?? [:]
            knownTransactions?[held.value.id] = reported
        }
        knownTransactions = knownTransactions ?? [:]
        transactions.backlog = contents.transactions.reversed()
            .filter { !$0.isFinished && !isOwn($0.value) && !isReturnedByPurchase($0.value) }.map(\.value)
        for subscription in contents.subscriptions {
            let reported = subscription.contents
            let id = subscription.transaction.originalID
            if !isFirst, knownSubscriptions[id] != reported { statuses.changes.append(subscription) }
            knownSubscriptions[id] = reported
        }
        if let storefront = contents.storefront {
            if let knownStorefront, knownStorefront != storefront { storefronts.changes.append(storefront) }
            knownStorefront = storefront
        }
        return before != (transactions.changes.count, statuses.changes.count, storefronts.changes.count)
    }

    private func isKnown(_ transaction: Transaction) -> Bool { knownTransactions?[transaction.id] != nil }
}

/// The position of a listener.
struct ChangeLogCursor<Element: Sendable>: Sendable {
    /// The index in the list of changes; nil before the listener began.
    var position: Int?
    /// The elements of the backlog that the listener hasn't read yet.
    var backlog: ArraySlice<Element> = []
}
