import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// The calls about the transactions of a customer or an order. Each signed part of a response is verified.
extension AppStoreClient {
    /// Returns all transactions of a customer, finished consumables too, in the order of their last change.
    ///
    /// - Parameter end: The time on the clock `AppStoreTime.uptime` after which the client sends no request.
    func transactionHistory(
        of id: AppStoreCustomerID, in environment: AppStoreEnvironment, before end: TimeInterval = .infinity
    ) async throws(AppStoreFailure) -> TransactionList {
        // Apple's token for the next page is called `revision`. A page has it only if the order is ascending.
        try await transactions(.transactionHistory, of: id, sort: "ASCENDING", in: environment, before: end)
    }

    /// Returns all refunded and revoked transactions of a customer.
    ///
    /// - Parameter end: The time on the clock `AppStoreTime.uptime` after which the client sends no request.
    func refundHistory(
        of id: AppStoreCustomerID, in environment: AppStoreEnvironment, before end: TimeInterval = .infinity
    ) async throws(AppStoreFailure) -> TransactionList {
        try await transactions(.refundHistory, of: id, in: environment, before: end)
    }

    /// Reads all pages of a list of transactions.
    private func transactions(
        _ endpoint: AppStoreEndpoint, of id: AppStoreCustomerID, sort: String? = nil,
        in environment: AppStoreEnvironment, before end: TimeInterval
    ) async throws(AppStoreFailure) -> TransactionList {
        var list = TransactionList(in: environment)
        var trail = PageTrail(maximumPages: TransactionList.maximumPages)
        while list.ending == nil {
            let call = try AppStoreCall(endpoint, id.text, query: [("sort", sort), ("revision", list.revision)])
            let page = try await answer(to: call, in: environment, before: end)
            try list.add(try page.texts("signedTransactions"), by: verifier, now: time.now())
            let next = try page.optionalText("revision")
            list.ending = trail.ending(hasMore: try page.flag("hasMore"), next: next)
            list.revision = next
        }
        return list
    }

    /// Returns the customer's app transaction. Unlike an app transaction from StoreKit, it isn't signed for a device.
    /// Throws `untrusted` if it can't be verified.
    func appTransaction(
        of id: AppStoreCustomerID, in environment: AppStoreEnvironment, before end: TimeInterval = .infinity
    ) async throws(AppStoreFailure) -> SyncArtifact<AppTransactionPayload> {
        let reply = try await answer(to: AppStoreCall(.appTransactionInfo, id.text), in: environment, before: end)
        let bytes = Array(try reply.text("signedAppTransactionInfo").utf8)
        return try verifying { () throws(Rejection) in
            let verified = try verifier.verifyAppTransaction(bytes, from: .appStoreServer, now: time.now())
            try verified.checkSigned(in: environment)
            if case .appTransaction(let requestedID) = id, verified.payload.appTransactionID != requestedID {
                throw Rejection(.wrongKind, "the response has an app transaction with another ID")
            }
            return SyncArtifact(verified, .appTransaction, bytes, at: .appTransaction, isOnDevice: false)
        }
    }

    /// Returns the status of all of a customer's subscriptions, including expired subscriptions.
    ///
    /// - Parameter end: The time on the clock `AppStoreTime.uptime` after which the client sends no request.
    func subscriptionStatuses(
        of id: AppStoreCustomerID, in environment: AppStoreEnvironment, before end: TimeInterval = .infinity
    ) async throws(AppStoreFailure) -> SubscriptionStatuses {
        let reply = try await answer(to: AppStoreCall(.subscriptionStatuses, id.text), in: environment, before: end)
        var statuses = SubscriptionStatuses(environment: environment)
        for group in try reply.objects("data") {
            for entry in try group.objects("lastTransactions") {
                try statuses.add(entry, by: verifier, now: time.now())
            }
        }
        return statuses
    }

    /// Returns the result of `verify`. If `verify` throws a rejection, throws it as the failure `untrusted`.
    func verifying<Result>(_ verify: () throws(Rejection) -> Result) throws(AppStoreFailure) -> Result {
        do {
            return try verify()
        } catch {
            throw .untrusted(error)
        }
    }

    /// Returns the transactions of an order ID from an email receipt. Nil if this app has no such order.
    ///
    /// Only production has orders: the sandbox sends no email receipts.
    func order(_ id: String, before end: TimeInterval = .infinity) async throws(AppStoreFailure) -> TransactionList? {
        let reply = try await answer(to: AppStoreCall(.orderLookup, id), in: .production, before: end)
        guard let status = try reply.optionalInteger("status") else {
            throw .unreadable("the response for an order has no `status`")
        }
        guard status == 0 else { return nil }
        var list = TransactionList(in: .production)
        try list.add(try reply.texts("signedTransactions"), by: verifier, now: time.now())
        return list
    }
}

extension AppStoreVerifier {
    /// Verifies a transaction in a response of the App Store. Rejects the transaction if it was signed in another
    /// environment than the requested one.
    func verified(
        transaction jws: String, at path: ArtifactPath, in environment: AppStoreEnvironment, now: Date
    ) throws(Rejection) -> (artifact: SyncArtifact<TransactionPayload>, purchase: Purchase) {
        let bytes = Array(jws.utf8)
        let verified = try verifyTransaction(bytes, now: now)
        try verified.checkSigned(in: environment)
        return (SyncArtifact(verified, .transaction, bytes, at: path, isOnDevice: false), try verified.purchase)
    }
}

extension Verified {
    /// Rejects data that was signed in another environment than the requested one. A local App Store may send such
    /// data, because it has one server for both environments.
    func checkSigned(in requested: AppStoreEnvironment) throws(Rejection) {
        guard environment == requested else {
            throw Rejection(
                .wrongEnvironment,
                "the artifact was signed in `\(environment.rawValue)`, but came from `\(requested.rawValue)`")
        }
    }
}

/// The verified transactions of one customer in responses of the App Store.
struct TransactionList: Sendable {
    let environment: AppStoreEnvironment
    /// The verified transactions, in the order of the responses.
    private(set) var transactions: [(artifact: SyncArtifact<TransactionPayload>, purchase: Purchase)] = []
    /// The artifacts that were rejected. The index in each path counts from the start of the whole list.
    private(set) var rejected: [RejectedArtifact] = []
    /// Apple's token with which to ask for the next page; nil before the first page.
    var revision: String?
    /// Why no further page is read; nil while pages are read.
    var ending: PageTrail.Ending?
    /// The number of transactions, including the rejected transactions.
    private var count: Int { transactions.count + rejected.count }
    /// The bytes of all transactions, including the rejected transactions.
    private var size = 0

    /// Whether all pages were read, and no transaction was rejected.
    var isComplete: Bool { ending == .lastPage && rejected.isEmpty }

    /// The most pages of 20 transactions. The database keeps at most as many artifacts of one customer.
    static let maximumPages = 250
    /// The most bytes of a list, to limit the memory.
    static let maximumBytes = 64 * 1024 * 1024

    init(in environment: AppStoreEnvironment) { self.environment = environment }

    /// Verifies and adds the transactions of a page. Adds the transactions that can't be verified to `rejected`. Throws
    /// `untrusted` if such a transaction may be verified later.
    mutating func add(_ page: [String], by verifier: AppStoreVerifier, now: Date) throws(AppStoreFailure) {
        for jws in page {
            size += jws.utf8.count
            guard size <= Self.maximumBytes else { throw .tooLarge(limit: Self.maximumBytes) }
            do throws(Rejection) {
                transactions.append(
                    try verifier.verified(transaction: jws, at: .transaction(count), in: environment, now: now))
            } catch {
                if error.isRetryable { throw .untrusted(error) }
                rejected.append(RejectedArtifact(.transaction(count), error))
            }
        }
    }
}

/// Counts the pages of a list that were read, and decides whether to read the next page. Each page has the token of the
/// next page, so without this check a server could keep the client busy forever.
struct PageTrail: Sendable {
    /// Why no further page is read.
    enum Ending: Sendable, Hashable {
        /// The App Store has no more pages.
        case lastPage
        /// The token of the next page is missing or was used before, so the list would never end.
        case circle
        /// The list has too many pages.
        case tooLong
    }

    private let maximumPages: Int
    /// The tokens of all pages after the first.
    private var tokens: Set<String> = []
    private var count = 0

    /// - Parameter maximumPages: The most pages to read.
    init(maximumPages: Int) { self.maximumPages = maximumPages }

    /// Counts a page that was read. Returns why the list ends with it; nil if the page with the token `next` is to be
    /// read too.
    mutating func ending(hasMore: Bool, next: String?) -> Ending? {
        count += 1
        guard hasMore else { return .lastPage }
        guard let next, !next.isEmpty, tokens.insert(next).inserted else { return .circle }
        return count < maximumPages ? nil : .tooLong
    }
}

/// The verified last transaction and renewal info of each of a customer's subscriptions.
struct SubscriptionStatuses: Sendable {
    /// One subscription of the customer.
    struct Subscription: Sendable {
        /// The status from the response, such as active or expired; nil if the response has none. It isn't signed, so
        /// it is only displayed.
        let status: Open<SubscriptionStatus>?
        /// The last transaction; nil if it can't be verified.
        fileprivate(set) var transaction: (artifact: SyncArtifact<TransactionPayload>, purchase: Purchase)?
        /// The renewal info; nil if it's missing, can't be verified, or belongs to another subscription than
        /// `transaction`.
        fileprivate(set) var renewal: (artifact: SyncArtifact<RenewalInfoPayload>, renewal: Renewal)?
    }

    let environment: AppStoreEnvironment
    fileprivate(set) var subscriptions: [Subscription] = []
    /// The artifacts that were rejected. The index in each path is the index of the subscription.
    fileprivate(set) var rejected: [RejectedArtifact] = []

    /// Verifies and adds one subscription of the response.
    fileprivate mutating func add(
        _ entry: AppStoreReply, by verifier: AppStoreVerifier, now: Date
    ) throws(AppStoreFailure) {
        let (index, environment) = (subscriptions.count, environment)
        var subscription = Subscription(status: try entry.optionalInteger("status").map(Open.init))
        let transaction = try entry.text("signedTransactionInfo")
        subscription.transaction = try verifiedUnlessRejected(.transaction(index)) { () throws(Rejection) in
            try verifier.verified(transaction: transaction, at: .transaction(index), in: environment, now: now)
        }
        if let renewalInfo = try entry.optionalText("signedRenewalInfo") {
            let path = ArtifactPath.renewalInfo(index)
            let renewal = try verifiedUnlessRejected(path) { () throws(Rejection) in
                let bytes = Array(renewalInfo.utf8)
                let verified = try verifier.verifyRenewalInfo(bytes, now: now)
                try verified.checkSigned(in: environment)
                let artifact = SyncArtifact(verified, .renewalInfo, bytes, at: path, isOnDevice: false)
                return (artifact: artifact, renewal: try verified.renewal)
            }
            let subscriptionID = subscription.transaction?.purchase.originalTransactionID
            if let renewal, renewal.renewal.originalTransactionID == subscriptionID {
                subscription.renewal = renewal
            } else if renewal != nil {
                let detail = "no verified transaction belongs to the subscription of this renewal info"
                rejected.append(RejectedArtifact(path, .noTransaction, detail))
            }
        }
        subscriptions.append(subscription)
    }

    /// Verifies an artifact. If it is rejected, adds it to `rejected` and returns nil. Throws `untrusted` if verifying
    /// it later may succeed.
    private mutating func verifiedUnlessRejected<Output>(
        _ path: ArtifactPath, _ verify: () throws(Rejection) -> Output
    ) throws(AppStoreFailure) -> Output? {
        do {
            return try verify()
        } catch {
            if error.isRetryable { throw .untrusted(error) }
            rejected.append(RejectedArtifact(path, error))
            return nil
        }
    }
}
