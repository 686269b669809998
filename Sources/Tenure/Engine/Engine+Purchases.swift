import Foundation
import TenureCore

extension Engine {
    /// Observes `Transaction.updates`, until its task is canceled.
    func observeTransactions() async {
        load()
        guard device.facts.distribution.hasPurchases else { return }
        for await result in setup.access.updates() {
            switch result {
            case .unverified(let reason):
                setup.options.log.error("StoreKit could not verify a new transaction: \(reason)")
            case .verified(let transaction):
                record(transaction)
                // The service gets it with all the others: only their whole list can be called complete. The next
                // transaction doesn't wait for that.
                _ = searchForNews()
            }
        }
    }

    /// Throws if this process can't sell.
    func preparePurchase() throws(Tenure.Error) {
        load()
        do throws(HostLimit) {
            try setup.host.checkMayBuy()
        } catch {
            throw .purchasesUnavailable(error.problem)
        }
        guard device.facts.distribution.hasPurchases else {
            throw .purchasesUnavailable(device.facts.distribution.whyNotAsked)
        }
    }

    /// Records a purchase of this app, decides, and finishes the transaction as configured.
    func process(_ transaction: StoreTransaction) async {
        load()
        record(transaction)
        if !device.memory.account.purchases.contains(where: { $0.transactionID == transaction.purchase.transactionID })
        {
            setup.options.log.error("a purchase belongs to another account or environment than the app")
        }
        // The device has decided already. StoreKit and the service may take their time.
        let rest = setup.service == nil ? Task { await finisher.finishRecorded() } : searchForNews()
        _ = await value(of: rest, within: setup.purchaseTimeout)
    }

    /// Starts a search that covers what was recorded until now. Several callers share it.
    private func searchForNews() -> Task<Void, Never> {
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

    private func record(_ transaction: StoreTransaction) {
        device.look()
        appStore.take([transaction])
        device.noteGrants()
        device.save()
        device.post()
    }

    func contentArrived(ofPurchase original: String, transaction id: String) async {
        load()
        finisher.delivered.insert(original)
        device.memory.account.delivered.insert(id)
        await finishDelivered()
    }

    /// The product's transactions that exist now: the next one isn't delivered yet.
    func contentArrived(forProduct product: String) async {
        load()
        await searchIsOver()
        let unfinished = (try? await setup.attempt(true) { try await $0.unfinished() }?.get()) ?? []
        let known = (device.memory.account.purchases + unfinished.map(\.purchase)).filter {
            $0.productID == product && $0.type?.staysListed ?? false
        }
        finisher.delivered.formUnion(known.map(\.originalTransactionID))
        // Also for the next start, if the service can't confirm them now.
        device.memory.account.delivered.formUnion(known.map(\.transactionID))
        await finishDelivered()
    }

    private func finishDelivered() async {
        await searchIsOver()
        device.save()
        await finisher.finishRecorded()
    }
}
