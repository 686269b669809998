import Foundation
import TenureAppStore
import TenureCore
import TenureStore

/// The signed facts that link the artifacts of one sync to one customer. `LinkedArtifacts` asks it about each artifact.
///
/// Copies of signed artifacts circulate, so an artifact without a link to the other artifacts isn't accepted.
struct ArtifactLinks {
    /// The ID of one account's acquisition of the app, from a linked artifact; nil if none has the ID. Artifacts with
    /// different IDs belong to different customers.
    private(set) var appTransactionID: String?
    /// Whether a linked artifact was signed for the device that sent it.
    private(set) var isOnDevice = false
    /// The leading artifact, if it is the receipt; otherwise nil.
    private(set) var leadingReceipt: SyncArtifact<ReceiptPayload>?
    /// The purchase date of the app in the leading app transaction or receipt; nil if the leading artifact is a
    /// transaction.
    private var originalPurchaseDate: Date?
    /// The transaction IDs and original transaction IDs of linked purchases.
    private var transactionIDs: Set<String> = []
    /// The proofs of getting the app that are already stored for the customer.
    private let knownProofs: [AppProof]

    /// Chooses the leading artifact, with which all other artifacts are compared: the app transaction, otherwise a
    /// transaction that was signed for this device, otherwise the receipt, otherwise a transaction, preferably with an
    /// `appTransactionId`.
    ///
    /// - Parameter storedCustomer: The stored customer with the artifacts' identities; nil for a new customer.
    init(of verified: VerifiedArtifacts, storedCustomer: Customer?) {
        knownProofs = storedCustomer?.facts.proofs ?? []
        let transactions = verified.transactions
        let transactionOnDevice = transactions.first(where: \.artifact.isOnDevice)
        if let artifact = verified.appTransaction {
            appTransactionID = artifact.payload.appTransactionID
            isOnDevice = artifact.isOnDevice
            originalPurchaseDate = artifact.payload.originalPurchaseDate
        } else if transactionOnDevice == nil, let artifact = verified.receipt {
            // A receipt's hash doesn't prove the device, because other apps of the same vendor know the device ID in it
            // too. So `isOnDevice` stays false.
            leadingReceipt = artifact
            originalPurchaseDate = artifact.payload.originalPurchaseDate
            add(artifact.verified.purchases)
        } else if let (artifact, purchase) = transactionOnDevice
            ?? transactions.first(where: { $0.artifact.payload.appTransactionID != nil }) ?? transactions.first
        {
            isOnDevice = artifact.isOnDevice
            appTransactionID = artifact.payload.appTransactionID
            add([purchase])
        }
        if let storedCustomer { add(storedCustomer.facts.purchases) }
    }

    /// Returns whether a transaction is linked. If so, its IDs link further artifacts from now on.
    ///
    /// If the transaction and a linked artifact have an `appTransactionId`, the transaction is linked only if the IDs
    /// are equal. Otherwise it is linked if it and another linked artifact were signed for this device, or if a linked
    /// artifact has the same purchase or subscription.
    mutating func addIfLinked(_ transaction: SyncArtifact<TransactionPayload>, _ purchase: Purchase) -> Bool {
        if let theirs = transaction.payload.appTransactionID, let ours = appTransactionID {
            guard theirs == ours else { return false }
            // The linked artifacts and the transaction belong to one account, so it is enough that one of them was
            // signed for this device.
            isOnDevice = isOnDevice || transaction.isOnDevice
        } else if !(isOnDevice && transaction.isOnDevice), !contains(purchase) {
            return false
        }
        appTransactionID = appTransactionID ?? transaction.payload.appTransactionID
        add([purchase])
        return true
    }

    /// Returns whether a receipt is linked. If so, its purchases link further artifacts from now on.
    ///
    /// A receipt is linked in three cases:
    /// - A linked artifact has one of its purchases.
    /// - It was linked to the stored customer before.
    /// - It was made on this device, and has the same purchase date of the app as the leading artifact. Equal dates
    ///   alone are no link: many people bought the app in the same second, and copies of their receipts circulate.
    mutating func addIfLinked(_ receipt: SyncArtifact<ReceiptPayload>) -> Bool {
        let purchases = receipt.verified.purchases
        guard
            purchases.contains(where: { contains($0) }) || isKnown(receipt.verified.proof)
                || (receipt.isOnDevice && isDateOfLeader(receipt.payload.originalPurchaseDate))
        else { return false }
        add(purchases)
        return true
    }

    /// Whether a linked transaction belongs to this subscription.
    func contains(subscription originalTransactionID: String) -> Bool { transactionIDs.contains(originalTransactionID) }

    /// Whether a linked purchase is this purchase, or belongs to the same subscription.
    private func contains(_ purchase: Purchase) -> Bool {
        transactionIDs.contains(purchase.transactionID) || transactionIDs.contains(purchase.originalTransactionID)
    }

    /// Whether this receipt, or an earlier receipt for the same acquisition, was linked to the customer before.
    private func isKnown(_ proof: AppProof) -> Bool {
        knownProofs.contains { $0 == proof || ($0.id != nil && $0.id == proof.id) }
    }

    /// Whether this date is the purchase date of the app in the leading artifact.
    private func isDateOfLeader(_ date: Date?) -> Bool {
        guard let date, let originalPurchaseDate else { return false }
        return abs(date.timeIntervalSince(originalPurchaseDate)) <= Tolerance.seconds
    }

    /// Adds the IDs of linked purchases, which link further artifacts.
    private mutating func add(_ purchases: [Purchase]) {
        for purchase in purchases {
            transactionIDs.insert(purchase.transactionID)
            transactionIDs.insert(purchase.originalTransactionID)
        }
    }
}
