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
    /// service, answered by the service. The App Store delivers an unfinished transaction again at each start, so no
    /// transaction gets lost before it is recorded.
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
