import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// What the App Store itself says of one customer of one app: verified, and in the form in which the record takes it.
///
/// The App Store answers for one account, and says so without a signature: that these belong together rests on its word
/// where the artifacts name no account, and on what is signed where they do.
struct BackfilledHistory: Sendable {
    let environment: AppStoreEnvironment
    private(set) var realm: Realm?
    private(set) var artifacts: [Artifact] = []
    private(set) var proofs: [AppProof] = []
    private(set) var purchases: [Purchase] = []
    private(set) var renewals: [Renewal] = []
    private var names = NamedIdentities()
    /// What did not count, and why.
    private(set) var rejected: [RejectedArtifact] = []
    /// Whether all of the customer's purchases are among these: every page of the history was seen, and all that was
    /// answered counts.
    private(set) var isComplete: Bool
    /// Where the pages of the history ended; nil where there was none.
    let ending: PageTrail.Ending?
    /// With which only what changes from now on is answered.
    let revision: String?

    private var appTransactionID: String?
    private var subscriptionIDs: Set<String> = []

    init(
        of id: AppStoreCustomerID, _ list: TransactionList?, _ statuses: SubscriptionStatuses?,
        _ appTransaction: SyncArtifact<AppTransactionPayload>?, refunds: TransactionList? = nil,
        in environment: AppStoreEnvironment
    ) {
        self.environment = environment
        ending = list?.ending
        revision = list?.revision
        isComplete = list?.isComplete == true
        rejected = (list?.rejected ?? []) + (statuses?.rejected ?? [])
        let transactions = list?.transactions ?? []
        appTransactionID = Self.account(id, appTransaction, transactions.map(\.artifact))
        if let appTransaction { add(appTransaction) }
        for (artifact, purchase) in transactions + (refunds?.transactions ?? []) { add(artifact, purchase) }
        for subscription in statuses?.subscriptions ?? [] {
            if let (artifact, purchase) = subscription.transaction { add(artifact, purchase) }
            if let (artifact, renewal) = subscription.renewal { add(artifact, renewal) }
        }
        if !rejected.isEmpty || !holds(id) { isComplete = false }
    }

    /// By what the customer is found again; the first decides.
    var identities: [Identity] { names.identities }

    /// How many artifacts, purchases and renewals it has.
    var size: Int { artifacts.count + purchases.count + renewals.count }

    /// What the ledger gets, and what it proves. That all purchases are known is only said where it is so.
    ///
    /// `known`: of whom the amendment is.
    func add(to update: inout CustomerUpdate, of known: Customer?) {
        update.add(artifacts, proving: proofs, purchases: purchases, renewals: renewals)
        update.identify(by: identities + names.forPeople(beyond: known))
        if isComplete { update.completePurchases() }
    }

    /// Where something that belongs to it could not be had at all.
    mutating func loseCompleteness() { isComplete = false }

    mutating func lose(_ artifact: RejectedArtifact) {
        rejected.append(artifact)
        isComplete = false
    }

    /// A history without the very transaction that was asked for is not the whole one.
    private func holds(_ id: AppStoreCustomerID) -> Bool {
        guard case .transaction(let asked) = id else { return true }
        return purchases.contains { $0.transactionID == asked || $0.originalTransactionID == asked }
    }

    /// Whose account it is: what was asked for, then what is signed.
    private static func account(
        _ id: AppStoreCustomerID, _ appTransaction: SyncArtifact<AppTransactionPayload>?,
        _ transactions: [SyncArtifact<TransactionPayload>]
    ) -> String? {
        if case .appTransaction(let id) = id { return id }
        let asked = transactions.first {
            $0.payload.transactionID == id.text || $0.payload.originalTransactionID == id.text
        }
        return asked?.payload.appTransactionID ?? appTransaction?.payload.appTransactionID
            ?? transactions.lazy.compactMap(\.payload.appTransactionID).first
    }

    private mutating func add(_ artifact: SyncArtifact<AppTransactionPayload>) {
        guard belongs(artifact.payload.appTransactionID, artifact.realm, at: artifact.path) else { return }
        artifacts.append(artifact.stored)
        proofs.append(artifact.verified.proof)
        names.add(artifact.payload)
    }

    private mutating func add(_ artifact: SyncArtifact<TransactionPayload>, _ purchase: Purchase) {
        guard belongs(artifact.payload.appTransactionID, artifact.realm, at: artifact.path) else { return }
        artifacts.append(artifact.stored)
        purchases.append(purchase)
        subscriptionIDs.insert(purchase.originalTransactionID)
        names.add(artifact.payload, purchase)
    }

    private mutating func add(_ artifact: SyncArtifact<RenewalInfoPayload>, _ renewal: Renewal) {
        guard belongs(artifact.payload.appTransactionID, artifact.realm, at: artifact.path) else { return }
        guard subscriptionIDs.contains(renewal.originalTransactionID) else {
            rejected.append(
                RejectedArtifact(artifact.path, .noTransaction, "no transaction that counts is of its subscription"))
            return
        }
        artifacts.append(artifact.stored)
        renewals.append(renewal)
        names.add(artifact.payload, renewal)
    }

    /// Nothing signed says that it is another account's, or of another authority than the rest.
    private mutating func belongs(_ id: String?, _ realm: Realm, at path: ArtifactPath) -> Bool {
        if let id, let appTransactionID, id != appTransactionID {
            rejected.append(RejectedArtifact(path, .unrelated, "it belongs to another acquisition of the app"))
            return false
        }
        guard self.realm == nil || self.realm == realm else {
            rejected.append(RejectedArtifact(path, .unrelated, "it was signed under another authority than the rest"))
            return false
        }
        self.realm = realm
        return true
    }
}
