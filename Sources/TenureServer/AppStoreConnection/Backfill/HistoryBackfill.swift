import Foundation
import TenureAppStore
import TenureCore

/// Fetches all that the App Store knows of one customer: the whole history, the state of each subscription, and the
/// app transaction.
struct HistoryBackfill: Sendable {
    let connection: AppStoreConnection
    /// Seconds for all of it.
    var deadline: TimeInterval = 600

    /// `environment`: where the id was signed; nil where that is not known: then production is asked first.
    ///
    /// Throws where the history cannot be had now; `remedy` of the failure says whether later. What follows the history
    /// and fails for good is left out; without the state of subscriptions that are there, purchases are not complete.
    func history(
        of id: AppStoreCustomerID, in environment: AppStoreEnvironment? = nil
    ) async throws(AppStoreFailure) -> BackfilledHistory {
        let end = connection.time.uptime() + deadline
        let list: TransactionList
        do {
            list = try await connection.locating(environment) { candidate throws(AppStoreFailure) in
                try await connection.transactionHistory(of: id, in: candidate, before: end)
            }
        } catch {
            // Who got the app and bought nothing in it may have no history, and has an app transaction all the same.
            guard error.saysUnknownHere, case .appTransaction = id else { throw error }
            return try await appTransactionAlone(of: id, in: environment, before: end)
        }
        let appTransaction = try await leavingOut(.appTransaction) { () throws(AppStoreFailure) in
            try await connection.appTransaction(of: id, in: list.environment, before: end)
        }
        // Of a history without an end what was taken back must be known at least: it stands on pages of its own.
        let refunds = try await leavingOut(nil) { () throws(AppStoreFailure) in
            guard list.ending != .lastPage, let known = list.transactions.first else { return TransactionList?.none }
            return try await connection.refundHistory(
                of: .transaction(known.purchase.transactionID), in: list.environment, before: end)
        }
        // Only what renews by itself has more to tell than its transactions.
        let hasSubscriptions = list.transactions.contains { $0.purchase.type == .autoRenewable }
        let statuses = try await leavingOut(nil) { () throws(AppStoreFailure) in
            hasSubscriptions
                ? try await connection.subscriptionStatuses(of: id, in: list.environment, before: end) : nil
        }
        var history = BackfilledHistory(
            of: id, list, statuses.answer.flatMap { $0 }, appTransaction.answer,
            refunds: refunds.answer.flatMap { $0 }, in: list.environment)
        if let rejected = appTransaction.rejected { history.lose(rejected) }
        if statuses.answer == nil { history.loseCompleteness() }
        return history
    }

    private func appTransactionAlone(
        of id: AppStoreCustomerID, in environment: AppStoreEnvironment?, before end: TimeInterval
    ) async throws(AppStoreFailure) -> BackfilledHistory {
        try await connection.locating(environment) { candidate throws(AppStoreFailure) in
            let appTransaction = try await connection.appTransaction(of: id, in: candidate, before: end)
            return BackfilledHistory(of: id, nil, nil, appTransaction, in: candidate)
        }
    }

    /// Nil where it fails, and asking again would not help; with a fault where it was answered and cannot be believed.
    private func leavingOut<Answer: Sendable>(
        _ path: ArtifactPath?, _ ask: () async throws(AppStoreFailure) -> Answer
    ) async throws(AppStoreFailure) -> (answer: Answer?, rejected: RejectedArtifact?) {
        do {
            return (try await ask(), nil)
        } catch {
            guard !error.isRetryable else { throw error }
            switch error {
            case .refused: return (nil, nil)
            case .untrusted(let rejection): return (nil, path.map { RejectedArtifact($0, rejection) })
            default: throw error
            }
        }
    }
}
