import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// The verified artifacts that the App Store has of one customer.
///
/// The App Store responds for one account, but doesn't sign which account. Artifacts without an `appTransactionId` belong
/// together because they are in the same response. Those with an `appTransactionId` must all have the same one.
struct CustomerHistory: Sendable {
    let environment: AppStoreEnvironment
    private(set) var realm: Realm?
    private(set) var artifacts: [Artifact] = []
    private(set) var proofs: [AppProof] = []
    private(set) var purchases: [Purchase] = []
    private(set) var renewals: [Renewal] = []
    private var names = NamedIdentities()
    /// The rejected artifacts, with the reasons.
    private(set) var rejected: [RejectedArtifact] = []
    /// Whether these are all of the customer's purchases: all pages were read, and no artifact was rejected.
    private(set) var isComplete: Bool
    /// Why the last page was the last; nil if there is no history.
    let ending: PageTrail.Ending?

    private var appTransactionID: String?
    private var subscriptionIDs: Set<String> = []

    init(
        of id: AppStoreCustomerID, _ list: TransactionList?, _ statuses: SubscriptionStatuses?,
        _ appTransaction: SyncArtifact<AppTransactionPayload>?, refunds: TransactionList? = nil,
        in environment: AppStoreEnvironment
    ) {
        self.environment = environment
        ending = list?.ending
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

    /// The identities that find the customer, strongest first.
    var identities: [Identity] { names.identities }

    /// The number of artifacts, purchases and renewals.
    var size: Int { artifacts.count + purchases.count + renewals.count }

    /// Adds the history to an update of a customer.
    ///
    /// - Parameter known: the customer to update; nil for a new one.
    func add(to update: inout CustomerUpdate, of known: Customer?) {
        update.add(artifacts, proving: proofs, purchases: purchases, renewals: renewals)
        update.identify(by: identities + names.searchableIdentities(beyond: known))
        if isComplete { update.completePurchases() }
    }

    /// Marks the history as incomplete, because a request for a part of it failed.
    mutating func markIncomplete() { isComplete = false }

    mutating func reject(_ artifact: RejectedArtifact) {
        rejected.append(artifact)
        isComplete = false
    }

    /// Whether the history contains the requested transaction. If it doesn't, the history is incomplete.
    private func holds(_ id: AppStoreCustomerID) -> Bool {
        guard case .transaction(let asked) = id else { return true }
        return purchases.contains { $0.transactionID == asked || $0.originalTransactionID == asked }
    }

    /// Returns the app transaction ID of the history: the requested one, or a signed one.
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
                RejectedArtifact(artifact.path, .noTransaction, "its subscription has no verified transaction"))
            return
        }
        artifacts.append(artifact.stored)
        renewals.append(renewal)
        names.add(artifact.payload, renewal)
    }

    /// Rejects an artifact with another account's ID, or from another realm than the rest.
    private mutating func belongs(_ id: String?, _ realm: Realm, at path: ArtifactPath) -> Bool {
        if let id, let appTransactionID, id != appTransactionID {
            rejected.append(RejectedArtifact(path, .unrelated, "it belongs to another acquisition of the app"))
            return false
        }
        guard self.realm == nil || self.realm == realm else {
            rejected.append(
                RejectedArtifact(
                    path, .unrelated, "it is from another environment or authority than the rest of the history"))
            return false
        }
        self.realm = realm
        return true
    }
}
