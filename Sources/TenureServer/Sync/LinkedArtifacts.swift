import Crypto
import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// The artifacts of a sync that belong to one customer, and what they prove together.
///
/// A client may send artifacts of several Apple accounts, or copies of another person's artifacts. So
/// `ArtifactLinks` chooses one of the artifacts as the leading artifact. Any other artifact is accepted only if
/// signed fields link it to the leading artifact, directly or through further artifacts.
struct LinkedArtifacts: Sendable {
    /// The linked artifacts.
    private(set) var proven = ProvenArtifacts()
    /// The artifacts that aren't accepted, because they aren't linked or weren't verified.
    private(set) var rejected: [RejectedArtifact]
    /// Whether `proven` has all of the customer's purchases: the client says that it sent all, and each transaction
    /// was accepted.
    private(set) var isComplete = false
    /// Whether one of the linked artifacts was signed for the device that sent it. If not, the artifacts may be copies
    /// that anyone sent.
    private(set) var isBound = false
    /// The IDs of transactions and subscriptions with an `appTransactionId` in their artifacts. That ID proves that the
    /// purchase belongs to the account that acquired the app.
    private var accountPurchases: Set<String> = []

    /// Links the verified artifacts of a sync.
    ///
    /// - Parameter storedCustomer: The stored customer with the artifacts' identities; nil for a new customer. The
    ///   stored proofs and purchases of this customer link artifacts too.
    init(_ verified: VerifiedArtifacts, storedCustomer: Customer? = nil) {
        rejected = verified.rejected
        // If the leading artifact is an app transaction or a receipt, add it now. An app transaction always leads. A
        // leading transaction is added below, with the other transactions.
        var links = ArtifactLinks(of: verified, storedCustomer: storedCustomer)
        var receipt = verified.receipt
        if let appTransaction = verified.appTransaction { add(appTransaction, on: verified.hashedDevice) }
        if let leader = links.leadingReceipt {
            proven.add(leader)
            receipt = nil
        }
        var transactions = verified.transactions
        // A linked artifact may link further artifacts. Three rounds are enough for a receipt and its subscriptions.
        for _ in 0..<3 where receipt != nil || !transactions.isEmpty {
            if let candidate = receipt, links.accepts(candidate) {
                proven.add(candidate)
                receipt = nil
            }
            transactions.removeAll { artifact, purchase in
                guard links.accepts(artifact, purchase) else { return false }
                add(artifact, purchase)
                return true
            }
        }
        // The artifacts that remain aren't linked.
        if let receipt {
            reject(
                receipt.path, .unrelated,
                """
                no transaction links the receipt to the other artifacts; send a transaction that the receipt contains, \
                or `deviceIdentifier` if the receipt was made on this device
                """)
        }
        for (artifact, _) in transactions { reject(artifact.path, .unrelated, Self.detail(of: artifact, links)) }
        for (artifact, renewal) in verified.renewals { addOrReject(artifact, renewal, links) }
        isComplete =
            verified.listsAllPurchases && !rejected.contains { if case .transaction = $0.path { true } else { false } }
        isBound = links.isOnDevice
        // If there is no better identity, the first artifact identifies the customer.
        if identities.isEmpty, let artifact = proven.artifacts.first {
            proven.namedIdentities.add(Identity(.artifact, artifact.hashText))
        }
    }

    /// Adds renewal info if a transaction of its subscription is linked. Otherwise rejects the renewal info.
    private mutating func addOrReject(
        _ artifact: SyncArtifact<RenewalInfoPayload>, _ renewal: Renewal, _ links: ArtifactLinks
    ) {
        let theirs = artifact.payload.appTransactionID
        if let theirs, let ours = links.appTransactionID, theirs != ours {
            return reject(artifact.path, .unrelated, Self.otherAcquisition)
        }
        guard links.contains(subscription: renewal.originalTransactionID) else {
            return reject(
                artifact.path, .noTransaction,
                "no verified transaction has this renewal info's subscription; send one of its transactions too")
        }
        proven.add(artifact, renewal)
        if theirs != nil { accountPurchases.insert(renewal.originalTransactionID) }
    }

    /// The identities by which a sync finds the customer again.
    var identities: [Identity] { proven.identities }

    private mutating func reject(_ path: ArtifactPath, _ relation: ArtifactProblem.Relation, _ detail: String) {
        rejected.append(RejectedArtifact(path, relation, detail))
    }

    /// Returns the message that says why a transaction isn't linked.
    private static func detail(of artifact: SyncArtifact<TransactionPayload>, _ links: ArtifactLinks) -> String {
        artifact.payload.appTransactionID != nil && links.appTransactionID != nil
            ? otherAcquisition
            : """
            no signed field links the transaction to the other artifacts; send `deviceVerificationID` of the device for which all of \
            them were signed
            """
    }

    private static let otherAcquisition =
        "the artifact belongs to another Apple account's acquisition of the app; send the artifact separately"

    /// Adds the app transaction and its identities.
    private mutating func add(_ artifact: SyncArtifact<AppTransactionPayload>, on device: String?) {
        proven.add(artifact)
        let proof = artifact.verified.proof
        // Several accounts may use one device, so this identity combines the device and the acquisition. The identity
        // finds customers with earlier artifacts that had no ID. In test environments, all acquisitions have the same
        // date, so the identity is used there only if there is no other identity.
        if artifact.isOnDevice, identities.isEmpty || artifact.realm.environment.isProduction, let device,
            let date = proof.originalPurchaseDate
        {
            let acquisition = [device, String(date.millisecondsSince1970), proof.originalAppVersion ?? ""]
            proven.namedIdentities.add(Identity(.device, acquisition.joined(separator: " ")))
        }
        // Without an ID, the artifact's hash is an identity. So the artifact finds the same customer if another device
        // sends it.
        if artifact.payload.appTransactionID == nil {
            proven.namedIdentities.add(Identity(.artifact, artifact.storedArtifact.hashText))
        }
    }

    private mutating func add(_ artifact: SyncArtifact<TransactionPayload>, _ purchase: Purchase) {
        proven.add(artifact, purchase)
        guard artifact.payload.appTransactionID != nil else { return }
        accountPurchases.formUnion([purchase.transactionID, purchase.originalTransactionID])
    }

    /// What the artifacts prove about the acquisition of the app.
    var acquisition: ProvenAcquisition { ProvenAcquisition(proven.proofs, accountPurchases: accountPurchases) }

    /// The identity of the unbound customer for exactly these artifacts: it contains a hash of all artifacts, the kind
    /// of the leading artifact, and the most reliable identity in them.
    func unboundIdentity(of verified: VerifiedArtifacts) -> Identity {
        let lead: Identity.Lead =
            verified.appTransaction != nil ? .app : verified.receipt != nil ? .receipt : .transactions
        let mostReliable = identities.min { $0.kind < $1.kind }
        var hash = SHA256()
        for digest in proven.artifacts.map(\.sha256).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            hash.update(data: digest)
        }
        hash.update(data: [isComplete ? 1 : 0])
        return Identity(unboundLedBy: lead, naming: mostReliable, digest: Base64.urlSafe.text(Array(hash.finalize())))
    }
}

extension Artifact {
    /// The artifact's hash as text.
    fileprivate var hashText: String { Base64.urlSafe.text(sha256) }
}

/// The signed facts that link the artifacts of one sync to one customer.
///
/// Copies of signed artifacts circulate, so an artifact without a link to the other artifacts isn't accepted.
private struct ArtifactLinks {
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

    /// Whether a transaction is linked. If so, its IDs link further artifacts.
    ///
    /// If the transaction and a linked artifact have an `appTransactionId`, the transaction is linked only if the IDs
    /// are equal. Otherwise it is linked if it and another linked artifact were signed for this device, or if a linked
    /// artifact has the same purchase or subscription.
    mutating func accepts(_ transaction: SyncArtifact<TransactionPayload>, _ purchase: Purchase) -> Bool {
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

    /// Whether a receipt is linked. If so, its purchases link further artifacts.
    ///
    /// A receipt is linked if a linked artifact has one of its purchases, or if it was linked to the stored customer
    /// before. A receipt is also linked if it was made on this device, and has the same purchase date of the app as the
    /// leading artifact. Equal dates alone are no link: many people bought the app in the same second, and copies of
    /// their receipts circulate.
    mutating func accepts(_ receipt: SyncArtifact<ReceiptPayload>) -> Bool {
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
