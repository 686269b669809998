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
            $0.productID == product && ($0.type?.staysListed ?? false)
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
