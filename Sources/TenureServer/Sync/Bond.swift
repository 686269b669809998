import Foundation
import TenureAppStore
import TenureCore
import TenureStore

/// What ties the artifacts of one sync to one customer: signed facts only.
///
/// Signed artifacts circulate, so that one which nothing ties to the rest does not count.
struct Bond {
    /// One account and one app; two different ones are two customers.
    private(set) var appTransactionID: String?
    /// Whether something that belongs was signed for the device that sent it. Else anybody may have found it all.
    private(set) var isOnDevice: Bool
    private let originalPurchaseDate: Date?
    /// Transactions, by their own and by their original id, that belong.
    private var transactionIDs: Set<String> = []
    /// What the record holds of this very customer already.
    private let knownProofs: [AppProof]

    /// Whose word comes first: the app transaction, a transaction made for this device, the receipt, any transaction.
    enum Leader {
        case appTransaction(Arrival<AppTransactionPayload>)
        case receipt(Arrival<ReceiptPayload>)
        case transaction(Arrival<TransactionPayload>, Purchase)
        case nobody

        init(of submission: Submission) {
            let transactions = submission.transactions
            if let appTransaction = submission.appTransaction {
                self = .appTransaction(appTransaction)
            } else if let (arrival, purchase) = transactions.first(where: \.arrival.isOnDevice) {
                self = .transaction(arrival, purchase)
            } else if let receipt = submission.receipt {
                self = .receipt(receipt)
            } else if let (arrival, purchase) =
                transactions.first(where: { $0.arrival.payload.appTransactionID != nil }) ?? transactions.first
            {
                self = .transaction(arrival, purchase)
            } else {
                self = .nobody
            }
        }
    }

    /// `known`: the customer whom the leading artifacts name, where the record has one.
    init(leading leader: Leader, known: Customer?) {
        knownProofs = known?.facts.proofs ?? []
        switch leader {
        case .appTransaction(let arrival):
            appTransactionID = arrival.payload.appTransactionID
            isOnDevice = arrival.isOnDevice
            originalPurchaseDate = arrival.payload.originalPurchaseDate
        case .receipt(let arrival):
            // A receipt's hash is made with an id that other apps of its vendor know too: it binds nothing by itself.
            isOnDevice = false
            originalPurchaseDate = arrival.payload.originalPurchaseDate
            add(arrival.verified.purchases)
        case .transaction(let arrival, let purchase):
            isOnDevice = arrival.isOnDevice
            originalPurchaseDate = nil
            appTransactionID = arrival.payload.appTransactionID
            add([purchase])
        case .nobody:
            isOnDevice = false
            originalPurchaseDate = nil
        }
        if let known { add(known.facts.purchases) }
    }

    mutating func accepts(_ transaction: Arrival<TransactionPayload>, _ purchase: Purchase) -> Bool {
        if let theirs = transaction.payload.appTransactionID, let ours = appTransactionID {
            guard theirs == ours else { return false }
            // One account, and one of its artifacts was made for this device.
            isOnDevice = isOnDevice || transaction.isOnDevice
        } else if !(isOnDevice && transaction.isOnDevice), !holds(purchase) {
            return false
        }
        appTransactionID = appTransactionID ?? transaction.payload.appTransactionID
        add([purchase])
        return true
    }

    /// Dates that agree tie nothing alone: many people bought the app in the same second, and their receipts circulate.
    mutating func accepts(_ receipt: Arrival<ReceiptPayload>) -> Bool {
        let purchases = receipt.verified.purchases
        guard
            purchases.contains(where: { holds($0) }) || isKnown(receipt.verified.proof)
                || (receipt.isOnDevice && agrees(receipt.payload.originalPurchaseDate))
        else { return false }
        add(purchases)
        return true
    }

    func holds(subscription originalTransactionID: String) -> Bool { transactionIDs.contains(originalTransactionID) }

    private func holds(_ purchase: Purchase) -> Bool {
        transactionIDs.contains(purchase.transactionID) || transactionIDs.contains(purchase.originalTransactionID)
    }

    /// Whether this receipt, or an earlier one of its purchase of the app, was tied to the customer before.
    private func isKnown(_ proof: AppProof) -> Bool {
        knownProofs.contains { $0 == proof || ($0.id != nil && $0.id == proof.id) }
    }

    private func agrees(_ date: Date?) -> Bool {
        guard let date, let originalPurchaseDate else { return false }
        return abs(date.timeIntervalSince(originalPurchaseDate)) <= Tolerance.seconds
    }

    private mutating func add(_ purchases: [Purchase]) {
        for purchase in purchases {
            transactionIDs.insert(purchase.transactionID)
            transactionIDs.insert(purchase.originalTransactionID)
        }
    }
}
