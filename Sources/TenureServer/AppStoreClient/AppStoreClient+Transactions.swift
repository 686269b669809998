import Foundation
import TenureAppStore
import TenureCore
import TenureStore

/// The calls about the transactions of a customer or an order. Each signed part of a response is verified.
///
/// In each call, `end` is the time on the clock `AppStoreTime.uptime` after which the client sends no request.
extension AppStoreClient {
    /// Returns all transactions of a customer, finished consumables too, in the order of their last change.
    func transactionHistory(
        of id: AppStoreCustomerID, in environment: AppStoreEnvironment, before end: TimeInterval = .infinity
    ) async throws(AppStoreFailure) -> TransactionList {
        // A page of the history has the token for the next page, `revision`, only if the order is ascending.
        try await transactions(.transactionHistory, of: id, sort: "ASCENDING", in: environment, before: end)
    }

    /// Returns all refunded and revoked transactions of a customer.
    func refundHistory(
        of id: AppStoreCustomerID, in environment: AppStoreEnvironment, before end: TimeInterval = .infinity
    ) async throws(AppStoreFailure) -> TransactionList {
        try await transactions(.refundHistory, of: id, in: environment, before: end)
    }

    /// Reads all pages of a list of transactions, or as many as `PageTrail` allows.
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
        // The status of a valid order ID is 0.
        guard status == 0 else { return nil }
        var list = TransactionList(in: .production)
        try list.add(try reply.texts("signedTransactions"), by: verifier, now: time.now())
        return list
    }
}
