import Foundation
import TenureCore

/// Finishes transactions. Belongs to the engine's actor.
final class PurchaseFinisher {
    private let setup: Setup
    private let device: DeviceState
    /// Purchases with delivered content, by their original transaction.
    var delivered: Set<String> = []
    /// Transactions that are being finished.
    private var finishing: Set<String> = []

    init(_ device: DeviceState) {
        setup = device.setup
        self.device = device
    }

    /// Finishes each transaction that is recorded. Until then it must come again at the next start.
    ///
    /// - Parameter isStoreResponding: whether the store has just listed the purchases. `Transaction.unfinished` is
    ///   empty also if the store doesn't respond.
    nonisolated(nonsending) func finishRecorded(isStoreResponding: Bool = false) async {
        guard setup.host.mayFinishTransactions, !setup.isListening, setup.options.finishing != .never,
            device.facts.distribution.hasPurchases,
            case (let named, .success(let unfinished)?) = (
                device.memory.account.delivered, await setup.attempt(true, { try await $0.unfinished() })
            )
        else { return }
        if isStoreResponding || !unfinished.isEmpty {
            // The app has finished the others itself.
            let ids = Set(unfinished.map(\.purchase.transactionID))
            device.memory.account.delivered.subtract(named.subtracting(ids))
        }
        let ours = Set(device.productIDs).union(device.memory.catalog?.catalog?.ids ?? [])
        for transaction in unfinished where mayFinish(transaction, ours) && isRecorded(transaction) {
            let id = transaction.purchase.transactionID
            guard finishing.insert(id).inserted else { continue }
            if case .failure(let error)? = await setup.attempt(true, { try await $0.finish(id) }) {
                setup.options.log.error("a transaction could not be finished: \(error)")
                finishing.remove(id)
                // A store that hangs would hang for the next one, too.
                if error is TimedOut { return }
            } else if device.memory.account.delivered.remove(id) != nil {
                device.save()
            }
        }
    }

    private func isRecorded(_ transaction: StoreTransaction) -> Bool {
        let id = transaction.purchase.transactionID
        guard let stored = device.state.stored?.account, stored.purchases.contains(where: { $0.transactionID == id })
        else {
            return false
        }
        guard setup.service != nil else { return true }
        return !stored.unanswered.contains(id) && (!stored.refused.contains(id) || stored.delivered.contains(id))
    }

    /// Whether Tenure may finish the transaction. Other code in the app sells, delivers and finishes other products. A
    /// consumable that is finished before its delivery is lost permanently.
    private func mayFinish(_ transaction: StoreTransaction, _ ours: Set<String>) -> Bool {
        let purchase = transaction.purchase
        let isNamed = device.memory.account.delivered.contains(purchase.transactionID)
        switch purchase.type {
        case .nonConsumable, .nonRenewing, .autoRenewable: break
        case .consumable, .unknown, nil: return isNamed
        }
        if isNamed || delivered.contains(purchase.originalTransactionID) { return true }
        guard ours.contains(purchase.productID) else { return false }
        guard case .afterContent(let products) = setup.options.finishing else { return true }
        return !products.contains(purchase.productID)
    }
}
