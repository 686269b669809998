import Foundation
import Synchronization
import TenureAppStore
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

    /// The content of each transaction in the App Store's last report, by transaction ID. If the next report has other
    /// content, the transaction has changed. Nil before the first report about a customer.
    private(set) var knownTransactions: [UInt64: JSONObject]?
    /// The same for subscriptions, by the ID of the first transaction.
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
        let isFirst = knownTransactions == nil
        var known = knownTransactions ?? [:]
        let before = (transactions.changes.count, statuses.changes.count, storefronts.changes.count)
        // Report the oldest transactions first. Leave out a new transaction that `purchase()` returns. A later change
        // of that transaction, such as a refund, is reported.
        for received in contents.transactions.reversed()
        where !isReturnedByPurchase(received.value) || (!isFirst && known[received.value.id] != nil) {
            let reported = received.value.signedText.contents
            let knownState = known[received.value.id]
            let isChange =
                isFirst
                ? hadAnotherCustomer && !received.isFinished
                : knownState != reported && !(knownState == nil && isOwn(received.value))
            if isChange { transactions.changes.append(received.value) }
            known[received.value.id] = reported
        }
        knownTransactions = known
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
}

/// How far a listener has read the `ChangeLog`.
struct ChangeLogCursor<Element: Sendable>: Sendable {
    /// The index of the next element in `Changes.changes`; nil before the listener began.
    var position: Int?
    /// The elements of the backlog that the listener hasn't read yet.
    var backlog: ArraySlice<Element> = []
}

/// Delivers changes in the App Store to the listeners of `Transaction.updates` and similar sequences.
extension LocalStore.State {
    /// Stores what the App Store reported, unless a later report is stored. Returns whether there are new changes for
    /// listeners.
    ///
    /// - Parameter isFresh: replaces the stored transactions and subscriptions even if their content is the same.
    mutating func storeReport(_ new: DeviceContents, isFresh: Bool) -> Bool {
        if let old = contents, new.change < old.change { return false }
        var new = new
        if !isFresh { new.keepCopies(of: contents) }
        for index in new.transactions.indices where finishedHere.contains(new.transactions[index].value.id) {
            new.transactions[index].isFinished = true
        }
        let (buying, boughtHere) = (purchasesInProgress, boughtHere)
        let hasChanged = changeLog.update(
            new, isReturnedByPurchase: { (buying[$0.productID] ?? 0) > 0 && !boughtHere.contains($0.id) },
            isOwn: { boughtHere.contains($0.id) })
        // The stored app transaction is about one version of the app, so discard it if the version has changed.
        if let former = contents?.appVersion, contents?.customer == new.customer, former != new.appVersion {
            appTransaction = nil
        }
        contents = new
        return hasChanged
    }
}

extension LocalStore {
    /// Waits for the next change after `cursor`, and returns the changed element. Returns nil only if the task is
    /// canceled.
    ///
    /// - Parameter kind: the changes to wait for: `\.transactions`, `\.statuses` or `\.storefronts`.
    func next<Element>(
        of kind: any KeyPath<ChangeLog, ChangeLog.Changes<Element>> & Sendable, _ cursor: inout ChangeLogCursor<Element>
    ) async -> Element? {
        while !Task.isCancelled {
            if let first = cursor.backlog.popFirst() { return first }
            let hadBegun = cursor.position != nil
            let (hasContents, change) = state.withLock { state -> (Bool, Element?) in
                let items = state.changeLog[keyPath: kind]
                guard let position = cursor.position else {
                    guard state.contents != nil else { return (false, nil) }
                    cursor.position = items.changes.count
                    cursor.backlog = items.backlog[...]
                    return (true, nil)
                }
                guard position < items.changes.count else { return (state.contents != nil, nil) }
                cursor.position = position + 1
                return (true, items.changes[position])
            }
            if let change { return change }
            if !hadBegun {
                // The listener has begun just now, or the device has to connect first.
                if hasContents { continue }
                if (try? await contact()) != nil { continue }
            }
            await waitForChanges { state in
                cursor.position.map { $0 < state.changeLog[keyPath: kind].changes.count } ?? (state.contents != nil)
            }
        }
        return nil
    }

    /// Waits until something has changed in the store or on the device. Doesn't wait if `hasChanges` returns true.
    private func waitForChanges(unless hasChanges: (borrowing State) -> Bool) async {
        let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (last, isOffline, hasChangesAlready) = state.withLock { state in
            state.watchers.append(waker)
            return (state.contents?.change, state.behavior.isOffline, hasChanges(state))
        }
        if !hasChangesAlready {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in wakes { break } }
                if !isOffline { group.addTask { [self] in await waitForStoreChange(after: last) } }
                await group.next()
                group.cancelAll()
            }
            _ = try? await contact()
        }
        waker.finish()
    }

    /// Waits until the local App Store reports a change after `last`, or stops holding the request. Waits a second if
    /// it doesn't respond.
    ///
    /// - Parameter last: `DeviceContents.change` of the last report; nil if there is no report.
    private func waitForStoreChange(after last: Int?) async {
        do {
            _ = try await send(.changes, ["after": .number(String(last ?? -1))])
        } catch {
            // The local App Store doesn't answer. It may be started again, so try again.
            try? await Task.sleep(for: .seconds(1))
        }
    }
}
