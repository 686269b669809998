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
    /// Whether the artifact that leads was signed for the device that sent it.
    private let isOnDevice: Bool
    private let originalPurchaseDate: Date?
    /// Transactions, by their own and by their original id, that belong.
    private var transactionIDs: Set<String> = []

    /// `known`: the customer whom the leading artifacts name, where the record has one.
    init(leading submission: Submission, known: Customer?) {
        let leader =
            submission.transactions.first { $0.arrival.payload.appTransactionID != nil }
            ?? submission.transactions.first
        if let appTransaction = submission.appTransaction {
            appTransactionID = appTransaction.payload.appTransactionID
            isOnDevice = appTransaction.isOnDevice
            originalPurchaseDate = appTransaction.payload.originalPurchaseDate
        } else if let receipt = submission.receipt {
            isOnDevice = receipt.isOnDevice
            originalPurchaseDate = receipt.payload.originalPurchaseDate
            add(receipt.verified.purchases)
        } else {
            isOnDevice = leader?.arrival.isOnDevice ?? false
            originalPurchaseDate = nil
            appTransactionID = leader?.arrival.payload.appTransactionID
            if let leader { add([leader.purchase]) }
        }
        if let known { add(known.facts.purchases) }
    }

    mutating func accepts(_ transaction: Arrival<TransactionPayload>, _ purchase: Purchase) -> Bool {
        if let theirs = transaction.payload.appTransactionID, let ours = appTransactionID {
            guard theirs == ours else { return false }
        } else if !(isOnDevice && transaction.isOnDevice), !holds(purchase) {
            return false
        }
        appTransactionID = appTransactionID ?? transaction.payload.appTransactionID
        add([purchase])
        return true
    }

    mutating func accepts(_ receipt: Arrival<ReceiptPayload>) -> Bool {
        let purchases = receipt.verified.purchases
        guard
            agrees(receipt.payload.originalPurchaseDate) || (isOnDevice && receipt.isOnDevice)
                || purchases.contains(where: { holds($0) })
        else { return false }
        add(purchases)
        return true
    }

    func holds(subscription originalTransactionID: String) -> Bool { transactionIDs.contains(originalTransactionID) }

    private func holds(_ purchase: Purchase) -> Bool {
        transactionIDs.contains(purchase.transactionID) || transactionIDs.contains(purchase.originalTransactionID)
    }

    private func agrees(_ date: Date?) -> Bool {
        guard let date, let originalPurchaseDate else { return false }
        return abs(date.timeIntervalSince(originalPurchaseDate)) <= Slack.seconds
    }

    private mutating func add(_ purchases: [Purchase]) {
        for purchase in purchases {
            transactionIDs.insert(purchase.transactionID)
            transactionIDs.insert(purchase.originalTransactionID)
        }
    }
}
