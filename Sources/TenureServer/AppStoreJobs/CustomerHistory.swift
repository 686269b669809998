import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// The verified artifacts that the App Store has of one customer.
///
/// The App Store responds for one account, but doesn't sign which account. Artifacts without an `appTransactionId`
/// belong together because they are in the same response. Artifacts with an `appTransactionId` must all have the same
/// ID.
struct CustomerHistory: Sendable {
    let environment: AppStoreEnvironment
    /// The realm of the first artifact: the environment, or the test authority, that signed it. Nil if there is no
    /// artifact. All artifacts must have the same realm.
    private(set) var realm: Realm?
    /// The accepted artifacts.
    private(set) var proven = ProvenArtifacts()
    /// The rejected artifacts, with the reasons.
    var rejected: [RejectedArtifact] = []
    /// Whether these are all of the customer's purchases: all pages and the subscription statuses were read, no
    /// artifact was rejected, and the requested transaction is among them.
    var isComplete: Bool
    /// Why no further page of transactions was read; nil if the App Store has no history of the customer.
    let ending: PageTrail.Ending?

    /// The app transaction ID of the account: the requested ID, or an ID in an artifact. Nil if there is neither.
    /// Artifacts with another app transaction ID are rejected.
    private var appTransactionID: String?
    /// The original transaction IDs of the purchases. Renewal info is accepted only for a subscription with one of
    /// these IDs.
    private var originalTransactionIDs: Set<String> = []

    /// Combines the parts of the history that the App Store returned.
    ///
    /// - Parameters:
    ///   - id: The ID with which the App Store was asked.
    ///   - list: The customer's transactions; nil if the App Store has none.
    ///   - statuses: The status of each subscription; nil if there are no subscriptions or the request failed.
    ///   - appTransaction: The app transaction; nil if the request for it failed.
    ///   - refunds: The refunded transactions, if not all pages of `list` were read.
    init(
        of id: AppStoreCustomerID, transactions list: TransactionList? = nil, statuses: SubscriptionStatuses? = nil,
        appTransaction: SyncArtifact<AppTransactionPayload>?, refunds: TransactionList? = nil,
        in environment: AppStoreEnvironment
    ) {
        self.environment = environment
        ending = list?.ending
        isComplete = list?.isComplete == true
        rejected = (list?.rejected ?? []) + (statuses?.rejected ?? [])
        let transactions = list?.transactions ?? []
        appTransactionID = Self.appTransactionID(id, appTransaction, transactions.map(\.artifact))
        if let appTransaction, accept(appTransaction, appTransaction.payload.appTransactionID) {
            proven.add(appTransaction)
        }
        for (artifact, purchase) in transactions + (refunds?.transactions ?? []) { add(artifact, purchase) }
        for subscription in statuses?.subscriptions ?? [] {
            if let (artifact, purchase) = subscription.transaction { add(artifact, purchase) }
            if let (artifact, renewal) = subscription.renewal { add(artifact, renewal) }
        }
        // A history without the requested transaction is incomplete.
        if !rejected.isEmpty || !contains(id) { isComplete = false }
    }

    /// The number of artifacts, purchases and renewals to save.
    var size: Int { proven.artifacts.count + proven.purchases.count + proven.renewals.count }

    /// Adds the history to an update of a customer.
    ///
    /// - Parameter storedCustomer: The customer to update; nil for a new customer.
    func add(to update: inout CustomerUpdate, of storedCustomer: Customer?) {
        proven.add(to: &update, of: storedCustomer)
        if isComplete { update.completePurchases() }
    }

    /// Whether the history contains the transaction with this ID; true if the ID is an app transaction ID.
    private func contains(_ id: AppStoreCustomerID) -> Bool {
        guard case .transaction(let requested) = id else { return true }
        return proven.purchases.contains { $0.transactionID == requested || $0.originalTransactionID == requested }
    }

    /// Returns the app transaction ID of the account: the requested ID, or else an ID in an artifact. The requested
    /// transaction is tried first.
    private static func appTransactionID(
        _ id: AppStoreCustomerID, _ appTransaction: SyncArtifact<AppTransactionPayload>?,
        _ transactions: [SyncArtifact<TransactionPayload>]
    ) -> String? {
        if case .appTransaction(let id) = id { return id }
        let requested = transactions.first {
            $0.payload.transactionID == id.text || $0.payload.originalTransactionID == id.text
        }
        return requested?.payload.appTransactionID ?? appTransaction?.payload.appTransactionID
            ?? transactions.lazy.compactMap(\.payload.appTransactionID).first
    }

    private mutating func add(_ artifact: SyncArtifact<TransactionPayload>, _ purchase: Purchase) {
        guard accept(artifact, artifact.payload.appTransactionID) else { return }
        proven.add(artifact, purchase)
        originalTransactionIDs.insert(purchase.originalTransactionID)
    }

    private mutating func add(_ artifact: SyncArtifact<RenewalInfoPayload>, _ renewal: Renewal) {
        guard accept(artifact, artifact.payload.appTransactionID) else { return }
        guard originalTransactionIDs.contains(renewal.originalTransactionID) else {
            let detail = "no verified transaction has this renewal info's subscription"
            return rejected.append(RejectedArtifact(artifact.path, .noTransaction, detail))
        }
        proven.add(artifact, renewal)
    }

    /// Returns whether an artifact belongs to the history. If it has the ID of another account, or is from another
    /// realm than the artifacts before it, adds it to `rejected` and returns false.
    private mutating func accept<Payload>(_ artifact: SyncArtifact<Payload>, _ id: String?) -> Bool {
        let detail: String
        if let id, let appTransactionID, id != appTransactionID {
            detail = "the artifact belongs to another Apple account than the rest"
        } else if let realm, realm != artifact.realm {
            detail = "the artifact is from another environment or authority than the rest"
        } else {
            realm = artifact.realm
            return true
        }
        rejected.append(RejectedArtifact(artifact.path, .unrelated, detail))
        return false
    }
}
