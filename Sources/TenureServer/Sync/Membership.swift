import Crypto
import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// Which artifacts of a submission belong to one customer, and what they prove together.
struct Membership {
    private(set) var artifacts: [Artifact] = []
    private(set) var proofs: [AppProof] = []
    private(set) var purchases: [Purchase] = []
    private(set) var renewals: [Renewal] = []
    private(set) var names = NamedIdentities()
    /// All that did not count, also from before.
    private(set) var faults: [Fault]
    /// Whether all of the customer's purchases were seen: the list was said to be complete, and all of it counts.
    private(set) var isComplete = false
    /// Whether something of it was made for the device that sent it, so that it is no finder who asks.
    private(set) var isBound = false
    /// Transactions and subscriptions whose artifacts carry an `appTransactionId`, by their IDs.
    private var purchasesOfAccount: Set<String> = []

    /// `known`: the customer whom these identities name, where the record has one; what it knows ties too.
    init(of submission: Submission, known: Customer? = nil) {
        faults = submission.faults
        let leader = Bond.Leader(of: submission)
        var bond = Bond(leading: leader, known: known)
        var receipt = submission.receipt
        switch leader {
        case .appTransaction(let appTransaction): add(appTransaction, on: submission.hashedDevice)
        case .receipt(let leading):
            add(leading)
            receipt = nil
        case .transaction, .nobody: break
        }
        var transactions = submission.transactions
        // What belongs may tie others: twice around is enough for a receipt and the subscriptions it names.
        for _ in 0..<3 where receipt != nil || !transactions.isEmpty {
            if let candidate = receipt, bond.accepts(candidate) {
                add(candidate)
                receipt = nil
            }
            transactions.removeAll { arrival, purchase in
                guard bond.accepts(arrival, purchase) else { return false }
                add(arrival, purchase)
                return true
            }
        }
        if let receipt {
            faults.append(
                Fault(
                    receipt.place, .unrelated,
                    """
                    no transaction ties it to the rest; send a transaction that it holds, or `deviceIdentifier` where \
                    it was made on this device
                    """))
        }
        for (arrival, _) in transactions {
            faults.append(Fault(arrival.place, .unrelated, Self.detail(of: arrival, bond)))
        }
        for (arrival, renewal) in submission.renewals {
            let theirs = arrival.payload.appTransactionID
            if let theirs, let ours = bond.appTransactionID, theirs != ours {
                faults.append(Fault(arrival.place, .unrelated, "it belongs to another acquisition of the app"))
            } else if bond.holds(subscription: renewal.originalTransactionID) {
                artifacts.append(arrival.artifact)
                renewals.append(renewal)
                names.add(arrival.payload, renewal)
                if theirs != nil { purchasesOfAccount.insert(renewal.originalTransactionID) }
            } else {
                faults.append(Fault(arrival.place, .noTransaction, "no verified transaction is of its subscription"))
            }
        }
        isComplete =
            submission.listsAllPurchases && !faults.contains { if case .transaction = $0.place { true } else { false } }
        isBound = bond.isOnDevice
        // By artifact where the App Store named nothing better.
        if identities.isEmpty, let artifact = artifacts.first {
            names.add(Identity(.artifact, artifact.name))
        }
    }

    /// By what the customer is found again.
    var identities: [Identity] { names.identities }

    private static func detail(of arrival: Arrival<TransactionPayload>, _ bond: Bond) -> String {
        arrival.payload.appTransactionID != nil && bond.appTransactionID != nil
            ? "it belongs to another acquisition of the app" : "nothing signed ties it to the rest"
    }

    private mutating func add(_ arrival: Arrival<AppTransactionPayload>, on device: String?) {
        let proof = arrival.verified.proof
        artifacts.append(arrival.artifact)
        proofs.append(proof)
        names.add(arrival.payload)
        // Several accounts may use one device: the device names nobody, a purchase of the app on it does. Earlier artifacts
        // of it may have no ID. In test environments all of them have one date.
        if arrival.isOnDevice, identities.isEmpty || arrival.realm.environment.isProduction, let device,
            let date = proof.originalPurchaseDate
        {
            let acquisition = [device, String(date.millisecondsSince1970), proof.originalAppVersion ?? ""]
            names.add(Identity(.device, acquisition.joined(separator: " ")))
        }
        // So that it names the same customer where somebody else shows it.
        if arrival.payload.appTransactionID == nil { names.add(Identity(.artifact, arrival.artifact.name)) }
    }

    private mutating func add(_ arrival: Arrival<ReceiptPayload>) {
        artifacts.append(arrival.artifact)
        proofs.append(arrival.verified.proof)
        purchases += arrival.verified.purchases
        names.add(arrival.verified)
    }

    private mutating func add(_ arrival: Arrival<TransactionPayload>, _ purchase: Purchase) {
        artifacts.append(arrival.artifact)
        purchases.append(purchase)
        names.add(arrival.payload, purchase)
        guard arrival.payload.appTransactionID != nil else { return }
        purchasesOfAccount.formUnion([purchase.transactionID, purchase.originalTransactionID])
    }

    /// By what the record of these very artifacts is found again, which somebody sent without proof that they are theirs.
    func visit(leading submission: Submission) -> Identity {
        let lead: Identity.Lead =
            submission.appTransaction != nil ? .app : submission.receipt != nil ? .receipt : .transactions
        let strongest = identities.min { $0.kind < $1.kind }
        var hash = SHA256()
        for digest in artifacts.map(\.sha256).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            hash.update(data: digest)
        }
        hash.update(data: [isComplete ? 1 : 0])
        return Identity(
            visitLedBy: lead, naming: strongest, showing: Base64.urlSafe.text(Array(hash.finalize())))
    }

    /// Whether nothing says that a customer is somebody else than this sync's.
    func mayBelong(to customer: Customer) -> Bool {
        let ours = Evidence(environment: customer.realm.environment, app: proofs).acquisitions
        // Without their purchases, which may be thousands.
        let theirs = Evidence(environment: customer.realm.environment, app: customer.facts.proofs).acquisitions
        guard !theirs.isEmpty else { return true }
        guard !ours.isEmpty else { return mayNameAccount(of: customer) }
        return ours.contains { mine in theirs.contains { !mine.key.contradicts($0.key) } }
    }

    /// Whether a sync without an app transaction may say which account a customer is who has one.
    ///
    /// Their own purchases with an `appTransactionId` say so. Those of somebody else on the same device don't.
    private func mayNameAccount(of customer: Customer) -> Bool {
        let facts = customer.facts
        guard !purchasesOfAccount.isEmpty, facts.proofs.contains(where: { $0.kind != .receipt }) else { return true }
        return facts.purchases.contains {
            purchasesOfAccount.contains($0.transactionID) || purchasesOfAccount.contains($0.originalTransactionID)
        }
    }
}

extension AcquisitionKey {
    /// Whether both say enough to tell that they are two.
    fileprivate func contradicts(_ other: AcquisitionKey) -> Bool {
        guard !matches(other) else { return false }
        if appTransactionID != nil, other.appTransactionID != nil { return true }
        if downloadID != nil, other.downloadID != nil { return true }
        return originalPurchaseDate != nil && other.originalPurchaseDate != nil
    }
}

extension Artifact {
    fileprivate var name: String { Base64.urlSafe.text(sha256) }
}
