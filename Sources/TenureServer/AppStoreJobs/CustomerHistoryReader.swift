import Foundation
import TenureCore

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
    /// one of them, or it can't be verified, the history lacks it. If a retry may help, the function throws instead.
    /// `CustomerHistory.isComplete` says when a history is complete.
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
            // A customer without purchases may have only an app transaction, so don't throw.
            guard error.isUnknownID, case .appTransaction = id else { throw error }
            return try await client.locating(environment) { candidate throws(AppStoreFailure) in
                let appTransaction = try await client.appTransaction(of: id, in: candidate, before: end)
                return CustomerHistory(of: id, appTransaction: appTransaction, in: candidate)
            }
        }
        let appTransaction = try await optionalPart(rejectionPath: .appTransaction) { () throws(AppStoreFailure) in
            try await client.appTransaction(of: id, in: list.environment, before: end)
        }
        // If not all pages of transactions were read, refunds may be missing. So the list of refunds is fetched, too.
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
        // The double optional `statuses.answer` is nil after a failed request, `.some(nil)` if none was needed.
        var history = CustomerHistory(
            of: id, transactions: list, statuses: statuses.answer ?? nil,
            appTransaction: appTransaction.answer, refunds: refunds.answer ?? nil, in: list.environment)
        history.rejected += appTransaction.rejected
        if !appTransaction.rejected.isEmpty || statuses.answer == nil { history.isComplete = false }
        return history
    }

    /// Asks for a part of the history that may be left out. The answer is nil if the App Store refuses the request or
    /// the response can't be verified. Throws if a retry may help, and after any other failure.
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
