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
    /// By what the customer is found again.
    private(set) var identities: [Identity] = []
    /// All that did not count, also from before.
    private(set) var faults: [Fault]
    /// Whether all of the customer's purchases were seen: the list was said to be complete, and all of it counts.
    private(set) var isComplete = false

    /// `known`: the customer whom these identities name, where the record has one; what it knows ties too.
    init(of submission: Submission, known: Customer? = nil) {
        faults = submission.faults
        var bond = Bond(leading: submission, known: known)
        if let appTransaction = submission.appTransaction {
            add(appTransaction)
        } else if let receipt = submission.receipt {
            add(receipt)
        }
        var receipt = submission.appTransaction == nil ? nil : submission.receipt
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
                    "neither its purchase date nor a transaction ties it to the app transaction"))
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
            } else {
                faults.append(Fault(arrival.place, .noTransaction, "no verified transaction is of its subscription"))
            }
        }
        isComplete =
            submission.listsAllPurchases && !faults.contains { if case .transaction = $0.place { true } else { false } }
        identify(submission)
    }

    private static func detail(of arrival: Arrival<TransactionPayload>, _ bond: Bond) -> String {
        arrival.payload.appTransactionID != nil && bond.appTransactionID != nil
            ? "it belongs to another acquisition of the app" : "nothing signed ties it to the rest"
    }

    private mutating func add(_ arrival: Arrival<AppTransactionPayload>) {
        artifacts.append(arrival.artifact)
        proofs.append(arrival.verified.proof)
        if let id = arrival.payload.appTransactionID, !id.isEmpty { identities.append(Identity(.appTransactionID, id)) }
    }

    private mutating func add(_ arrival: Arrival<ReceiptPayload>) {
        artifacts.append(arrival.artifact)
        let proof = arrival.verified.proof
        proofs.append(proof)
        purchases += arrival.verified.purchases
        if case .download(let id) = proof.id { identities.append(Identity(.downloadID, id)) }
        for purchase in arrival.verified.purchases {
            identities.append(Identity(.originalTransactionID, purchase.originalTransactionID))
        }
    }

    private mutating func add(_ arrival: Arrival<TransactionPayload>, _ purchase: Purchase) {
        artifacts.append(arrival.artifact)
        purchases.append(purchase)
        if let id = arrival.payload.appTransactionID, !id.isEmpty { identities.append(Identity(.appTransactionID, id)) }
        identities.append(Identity(.originalTransactionID, purchase.originalTransactionID))
    }

    /// Without repetitions; and by device or artifact where the App Store named nothing better.
    private mutating func identify(_ submission: Submission) {
        if identities.isEmpty {
            let isOnDevice = submission.appTransaction?.isOnDevice ?? submission.receipt?.isOnDevice ?? false
            if isOnDevice, let device = submission.deviceVerificationID {
                identities.append(Identity(.device, device.hashed))
            } else if let artifact = artifacts.first {
                identities.append(Identity(.artifact, Base64URL.encode(artifact.sha256)))
            }
        }
        var seen: Set<Identity> = []
        identities.removeAll { !seen.insert($0).inserted }
    }
}
