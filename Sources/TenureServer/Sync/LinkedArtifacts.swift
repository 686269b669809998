import Crypto
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
        var links = ArtifactLinks(of: verified, storedCustomer: storedCustomer)
        var receipt = verified.receipt
        // Add the leading artifact if it is the app transaction, which always leads, or the receipt. A leading
        // transaction is added below, with the other transactions.
        if let appTransaction = verified.appTransaction { add(appTransaction, on: verified.hashedDevice) }
        if let leader = links.leadingReceipt {
            proven.add(leader)
            receipt = nil
        }
        var transactions = verified.transactions
        // A linked artifact may link further artifacts. Three rounds are enough for a receipt and its subscriptions.
        for _ in 0..<3 {
            if let candidate = receipt, links.addIfLinked(candidate) {
                proven.add(candidate)
                receipt = nil
            }
            transactions.removeAll { artifact, purchase in
                guard links.addIfLinked(artifact, purchase) else { return false }
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

    /// Adds the app transaction and its identities. `device` is the hashed ID of the sender's device.
    private mutating func add(_ artifact: SyncArtifact<AppTransactionPayload>, on device: String?) {
        proven.add(artifact)
        let proof = artifact.verified.proof
        // This identity leads to the customer of earlier app transactions without an `appTransactionId`. Several
        // accounts may use one device, so it combines the device and the acquisition. In test environments, all
        // acquisitions have the same date, so the identity is used there only if there is no other.
        if artifact.isOnDevice, identities.isEmpty || artifact.realm.environment.isProduction, let device,
            let date = proof.originalPurchaseDate
        {
            let acquisition = [device, String(date.millisecondsSince1970), proof.originalAppVersion ?? ""]
            proven.namedIdentities.add(Identity(.device, acquisition.joined(separator: " ")))
        }
        // Without an `appTransactionId`, the artifact's hash is an identity. So the artifact finds the same customer if
        // another device sends it.
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
        let leadWithoutApp: Identity.Lead = verified.receipt == nil ? .transactions : .receipt
        let lead = verified.appTransaction == nil ? leadWithoutApp : .app
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
