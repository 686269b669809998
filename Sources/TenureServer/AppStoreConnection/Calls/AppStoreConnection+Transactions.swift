import Foundation
import TenureAppStore
import TenureCore
import TenureStore

extension AppStoreConnection {
    /// All transactions of a customer, finished consumables too, oldest change first.
    ///
    /// `revision`: only what changed since the list with that `revision`.
    func transactionHistory(
        of id: AppStoreCustomerID, after revision: String? = nil, in environment: AppStoreEnvironment,
        before end: TimeInterval = .infinity
    ) async throws(AppStoreFailure) -> TransactionList {
        try await transactions(after: revision, in: environment, before: end) { revision throws(AppStoreFailure) in
            try .transactionHistory(of: id, after: revision)
        }
    }

    /// Transactions of a customer's that were refunded or revoked.
    func refundHistory(
        of id: AppStoreCustomerID, after revision: String? = nil, in environment: AppStoreEnvironment,
        before end: TimeInterval = .infinity
    ) async throws(AppStoreFailure) -> TransactionList {
        try await transactions(after: revision, in: environment, before: end) { revision throws(AppStoreFailure) in
            try .refundHistory(of: id, after: revision)
        }
    }

    private func transactions(
        after revision: String?, in environment: AppStoreEnvironment, before end: TimeInterval,
        _ call: (_ revision: String?) throws(AppStoreFailure) -> AppStoreCall
    ) async throws(AppStoreFailure) -> TransactionList {
        var list = TransactionList(in: environment)
        list.revision = revision
        var trail = PageTrail(from: revision, most: TransactionList.mostPages)
        while list.ending == nil {
            let page = try await answer(to: try call(list.revision), in: environment, before: end)
            try list.add(try page.texts("signedTransactions"), by: verifier, now: time.now())
            let next = try page.optionalText("revision")
            list.ending = trail.ending(hasMore: try page.flag("hasMore"), next: next)
            list.revision = next
        }
        return list
    }

    /// One transaction. Throws `untrusted` where it cannot be verified, or is another one.
    func transaction(_ transactionID: String, in environment: AppStoreEnvironment) async throws(AppStoreFailure)
        -> (artifact: SyncArtifact<TransactionPayload>, purchase: Purchase)
    {
        let reply = try await answer(to: .transactionInfo(transactionID), in: environment)
        let jws = try reply.text("signedTransactionInfo")
        return try trusting { () throws(Rejection) in
            let answered = try verifier.answered(
                transaction: jws, at: .transaction(0), in: environment, now: time.now())
            guard answered.purchase.transactionID == transactionID else {
                throw Rejection(.wrongKind, "it is another transaction than the one that was asked for")
            }
            return answered
        }
    }

    /// What the App Store says of the customer's getting the app, bound to no device. Throws `untrusted` where it cannot
    /// be verified.
    func appTransaction(
        of id: AppStoreCustomerID, in environment: AppStoreEnvironment, before end: TimeInterval = .infinity
    ) async throws(AppStoreFailure) -> SyncArtifact<AppTransactionPayload> {
        let reply = try await answer(to: .appTransactionInfo(of: id), in: environment, before: end)
        let bytes = Array(try reply.text("signedAppTransactionInfo").utf8)
        return try trusting { () throws(Rejection) in
            let verified = try verifier.verifyAppTransaction(bytes, from: .appStoreServer, now: time.now())
            try verified.checkSigned(in: environment)
            if case .appTransaction(let wanted) = id, verified.payload.appTransactionID != wanted {
                throw Rejection(.wrongKind, "it is another app transaction than the one that was asked for")
            }
            return SyncArtifact(verified, .appTransaction, bytes, at: .appTransaction, isOnDevice: false)
        }
    }

    func trusting<Result>(_ verify: () throws(Rejection) -> Result) throws(AppStoreFailure) -> Result {
        do {
            return try verify()
        } catch {
            throw .untrusted(error)
        }
    }
}
