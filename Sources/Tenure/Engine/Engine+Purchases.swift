import TenureCore

/// Records new purchases, and finishes their transactions.
extension Engine {
    /// Records each transaction of `Transaction.updates`, and then begins a search of the App Store, until its task is
    /// canceled.
    func observeTransactions() async {
        load()
        guard device.facts.distribution.hasPurchases else { return }
        for await result in setup.access.updates() {
            switch result {
            case .unverified(let reason):
                setup.options.log.error("StoreKit couldn't verify a new transaction: \(reason)")
            case .verified(let transaction):
                record(transaction)
                // Don't wait for the search, which also sends the complete list of transactions to the service.
                _ = searchForNewPurchases()
            }
        }
    }

    /// Throws `purchasesUnavailable` if this process can't make purchases.
    func preparePurchase() throws(Tenure.Error) {
        load()
        if let limit = setup.host.limit(on: .buy) { throw .purchasesUnavailable(limit.problem) }
        guard device.facts.distribution.hasPurchases else {
            throw .purchasesUnavailable(device.facts.distribution.whyStoreKitIsNotCalled)
        }
    }

    /// Records a purchase of this app, publishes what it grants, and finishes the transaction as `Options.finishing`
    /// says.
    func process(_ transaction: AppStoreTransaction) async {
        load()
        record(transaction)
        if !device.stored.account.purchases.contains(where: { $0.transactionID == transaction.purchase.transactionID })
        {
            setup.options.log.error("a purchase is ignored: it belongs to another account or environment than the app")
        }
        // `record` has already published the device's decision. Wait for the rest at most `purchaseTimeout` seconds:
        // finishing the transaction or, with a service, a new search. The task continues after the timeout.
        let rest = setup.service == nil ? Task { await finisher.finishRecorded() } : searchForNewPurchases()
        _ = await value(of: rest, within: setup.purchaseTimeout)
    }

    /// Starts a search that covers all transactions recorded so far. Callers that come meanwhile share this task.
    private func searchForNewPurchases() -> Task<Void, Never> {
        isSearchWanted = true
        if let pendingSearch { return pendingSearch }
        let search = Task {
            while isSearchWanted {
                isSearchWanted = false
                await searchAgain()
            }
            pendingSearch = nil
        }
        pendingSearch = search
        return search
    }

    /// Adds a transaction to the stored account, and publishes what it grants.
    private func record(_ transaction: AppStoreTransaction) {
        device.observeClock()
        appStore.addTransactions([transaction])
        device.removeDenialsOfGranted()
        device.save()
        device.post()
    }

    /// Marks one transaction as delivered by the app, and finishes it if it is recorded.
    ///
    /// - Parameters:
    ///   - original: the `originalID` of the transaction.
    ///   - id: the `id` of the transaction.
    func contentArrived(ofPurchase original: String, transaction id: String) async {
        load()
        finisher.deliveredOriginalIDs.insert(original)
        device.stored.account.deliveredTransactions.insert(id)
        await finishDelivered()
    }

    /// Marks the product's existing transactions as delivered by the app, and finishes the recorded transactions among
    /// them. Later transactions aren't marked, except for later periods of the same subscription.
    func contentArrived(forProduct product: String) async {
        load()
        await waitForRunningSearch()
        let unfinished = (try? await setup.callAppStore { try await $0.unfinished() }?.get()) ?? []
        let known = (device.stored.account.purchases + unfinished.map(\.purchase)).filter {
            $0.productID == product && $0.type?.staysListed ?? false
        }
        finisher.deliveredOriginalIDs.formUnion(known.map(\.originalTransactionID))
        // Also store the transactions. If the service can't confirm them now, they are finished after the next start.
        device.stored.account.deliveredTransactions.formUnion(known.map(\.transactionID))
        await finishDelivered()
    }

    /// Finishes the recorded transactions, after a running search.
    private func finishDelivered() async {
        await waitForRunningSearch()
        device.save()
        await finisher.finishRecorded()
    }
}

/// Finishes transactions as `Options.finishing` says. Only the engine's actor uses it.
final class PurchaseFinisher {
    private let device: DeviceState
    private var setup: Setup { device.setup }
    /// The original transaction IDs of purchases with delivered content.
    var deliveredOriginalIDs: Set<String> = []
    /// IDs of transactions that are being finished, or were finished.
    private var transactionsInProgress: Set<String> = []

    init(_ device: DeviceState) { self.device = device }

    /// Finishes each recorded transaction that Tenure may finish. Recorded means stored on the device and, with a
    /// service, answered by the service. The App Store delivers a transaction again at each start until it is finished,
    /// so a transaction that isn't recorded can't get lost.
    ///
    /// - Parameter isStoreResponding: whether the App Store has just listed the purchases. `Transaction.unfinished` is
    ///   also empty if the App Store doesn't respond.
    nonisolated(nonsending) func finishRecorded(isStoreResponding: Bool = false) async {
        guard setup.host.mayFinishTransactions, !setup.isListening, setup.options.finishing != .never,
            device.facts.distribution.hasPurchases
        else { return }
        // The app may deliver more transactions while StoreKit lists the unfinished transactions.
        let deliveredBefore = device.stored.account.deliveredTransactions
        guard case .success(let unfinished)? = await setup.callAppStore({ try await $0.unfinished() }) else { return }
        if isStoreResponding || !unfinished.isEmpty {
            // If a delivered transaction isn't listed as unfinished, the app has finished it itself.
            let ids = Set(unfinished.map(\.purchase.transactionID))
            device.stored.account.deliveredTransactions.subtract(deliveredBefore.subtracting(ids))
        }
        let ownProducts = Set(device.productIDs).union(device.stored.catalog?.catalog?.ids ?? [])
        for transaction in unfinished where mayFinish(transaction, ownProducts) && isRecorded(transaction) {
            let id = transaction.purchase.transactionID
            guard transactionsInProgress.insert(id).inserted else { continue }
            if case .failure(let error)? = await setup.callAppStore({ try await $0.finish(id) }) {
                setup.options.log.error("a transaction couldn't be finished, and will be finished later: \(error)")
                transactionsInProgress.remove(id)
                // If the App Store hangs, it would also hang for the next transaction.
                if error is TimedOut { return }
            } else if device.stored.account.deliveredTransactions.remove(id) != nil {
                device.save()
            }
        }
    }

    /// Whether the transaction is stored on the device and, with a service, answered by the service. A transaction that
    /// the service has rejected is treated as recorded only if the app has delivered it.
    private func isRecorded(_ transaction: AppStoreTransaction) -> Bool {
        let id = transaction.purchase.transactionID
        guard let stored = device.state.stored?.account, stored.purchases.contains(where: { $0.transactionID == id })
        else { return false }
        guard setup.service != nil else { return true }
        return !stored.unansweredTransactions.contains(id)
            && (!stored.refusedTransactions.contains(id) || stored.deliveredTransactions.contains(id))
    }

    /// Whether Tenure may finish the transaction. If the app has reported its delivery, Tenure may.
    ///
    /// Otherwise Tenure doesn't finish:
    /// - consumables and purchases of unknown type: a consumable that is finished before its delivery is lost
    ///   permanently
    /// - purchases of products that aren't in `ownProducts` (in the policy or in the service's list): other code in the
    ///   app sells and delivers them
    /// - purchases of products in `Finishing.afterContent`: their content isn't delivered yet
    private func mayFinish(_ transaction: AppStoreTransaction, _ ownProducts: Set<String>) -> Bool {
        let purchase = transaction.purchase
        let isDelivered = device.stored.account.deliveredTransactions.contains(purchase.transactionID)
        switch purchase.type {
        case .nonConsumable, .nonRenewing, .autoRenewable: break
        case .consumable, .unknown, nil: return isDelivered
        }
        if isDelivered || deliveredOriginalIDs.contains(purchase.originalTransactionID) { return true }
        guard ownProducts.contains(purchase.productID) else { return false }
        guard case .afterContent(let products) = setup.options.finishing else { return true }
        return !products.contains(purchase.productID)
    }
}
