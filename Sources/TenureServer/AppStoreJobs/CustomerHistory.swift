import Foundation
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
        if let appTransaction, belongs(appTransaction, appTransaction.payload.appTransactionID) {
            proven.add(appTransaction)
        }
        for (artifact, purchase) in transactions + (refunds?.transactions ?? []) { add(artifact, purchase) }
        for subscription in statuses?.subscriptions ?? [] {
            if let (artifact, purchase) = subscription.transaction { add(artifact, purchase) }
            if let (artifact, renewal) = subscription.renewal { add(artifact, renewal) }
        }
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

    /// Whether the history contains the requested transaction. A history without this transaction is incomplete.
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
        guard belongs(artifact, artifact.payload.appTransactionID) else { return }
        proven.add(artifact, purchase)
        originalTransactionIDs.insert(purchase.originalTransactionID)
    }

    private mutating func add(_ artifact: SyncArtifact<RenewalInfoPayload>, _ renewal: Renewal) {
        guard belongs(artifact, artifact.payload.appTransactionID) else { return }
        guard originalTransactionIDs.contains(renewal.originalTransactionID) else {
            let detail = "no verified transaction has this renewal info's subscription"
            return rejected.append(RejectedArtifact(artifact.path, .noTransaction, detail))
        }
        proven.add(artifact, renewal)
    }

    /// Returns whether an artifact belongs to the history. If it has the ID of another account, or is from another
    /// realm than the artifacts before it, adds it to `rejected` and returns false.
    private mutating func belongs<Payload>(_ artifact: SyncArtifact<Payload>, _ id: String?) -> Bool {
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

/// Fetches what the App Store has of one customer: all transactions, the status of each subscription, and the app
/// transaction.
struct CustomerHistoryReader: Sendable {
    let client: AppStoreClient
    /// The timeout of all requests together, in seconds.
    var timeout: TimeInterval = 600

    /// Returns the customer's history.
    ///
    /// Throws if the transactions can't be fetched. The failure's `remedy` tells whether to try again later.
    ///
    /// The app transaction, the refunds and the subscription statuses are optional. If the App Store refuses to send
    /// one of them, or it can't be verified, the history lacks it. If a retry may help, the function throws instead. A
    /// history without the subscription statuses is incomplete.
    ///
    /// - Parameter environment: The environment that signed the artifact with this ID. If it's nil, the reader asks
    ///   each accepted environment, production first.
    func history(
        of id: AppStoreCustomerID, in environment: AppStoreEnvironment? = nil
    ) async throws(AppStoreFailure) -> CustomerHistory {
        let end = client.time.uptime() + timeout
        let list: TransactionList
        do {
            list = try await client.locating(environment) { candidate throws(AppStoreFailure) in
                try await client.transactionHistory(of: id, in: candidate, before: end)
            }
        } catch {
            // A customer without purchases may have no history, but has an app transaction.
            guard error.isUnknownID, case .appTransaction = id else { throw error }
            return try await client.locating(environment) { candidate throws(AppStoreFailure) in
                let appTransaction = try await client.appTransaction(of: id, in: candidate, before: end)
                return CustomerHistory(of: id, appTransaction: appTransaction, in: candidate)
            }
        }
        let appTransaction = try await optionalPart(rejectionPath: .appTransaction) { () throws(AppStoreFailure) in
            try await client.appTransaction(of: id, in: list.environment, before: end)
        }
        // If the list of transactions isn't complete, it may lack refunds. So fetch the list of refunds, too.
        let refunds = try await optionalPart(rejectionPath: nil) { () throws(AppStoreFailure) in
            guard list.ending != .lastPage, let transaction = list.transactions.first else {
                return TransactionList?.none
            }
            return try await client.refundHistory(
                of: .transaction(transaction.purchase.transactionID), in: list.environment, before: end)
        }
        // Transactions contain no renewal info, so the statuses of auto-renewable subscriptions are requested too.
        let hasSubscriptions = list.transactions.contains { $0.purchase.type == .autoRenewable }
        let statuses = try await optionalPart(rejectionPath: nil) { () throws(AppStoreFailure) in
            hasSubscriptions ? try await client.subscriptionStatuses(of: id, in: list.environment, before: end) : nil
        }
        // An answer is nil if the App Store refused the request, and contains nil if no request was needed.
        var history = CustomerHistory(
            of: id, transactions: list, statuses: statuses.answer.flatMap { $0 },
            appTransaction: appTransaction.answer, refunds: refunds.answer.flatMap { $0 }, in: list.environment)
        history.rejected += appTransaction.rejected
        if !appTransaction.rejected.isEmpty || statuses.answer == nil { history.isComplete = false }
        return history
    }

    /// Asks for a part of the history that may be left out. The answer is nil if the App Store refuses the request or
    /// the response can't be verified. Throws if a retry may help.
    ///
    /// - Parameter path: The path of the artifact in the list of rejected artifacts; nil for a part with many
    ///   artifacts, which isn't listed.
    private func optionalPart<Answer: Sendable>(
        rejectionPath path: ArtifactPath?, _ ask: () async throws(AppStoreFailure) -> Answer
    ) async throws(AppStoreFailure) -> (answer: Answer?, rejected: [RejectedArtifact]) {
        do {
            return (try await ask(), [])
        } catch {
            guard !error.isRetryable else { throw error }
            switch error {
            case .refused: return (nil, [])
            case .untrusted(let rejection): return (nil, path.map { [RejectedArtifact($0, rejection)] } ?? [])
            default: throw error
            }
        }
    }
}
