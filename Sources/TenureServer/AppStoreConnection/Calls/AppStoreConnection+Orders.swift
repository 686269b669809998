import Foundation
import TenureAppStore
import TenureCore

extension AppStoreConnection {
    /// What was bought under an order id, as the App Store's receipts by e-mail name it: each transaction verified, or
    /// named among the rejected. Nil where it is no order of this app.
    ///
    /// In production alone: nobody gets a receipt for what was bought in the sandbox.
    func order(_ id: String, before end: TimeInterval = .infinity) async throws(AppStoreFailure) -> TransactionList? {
        let reply = try await answer(to: .orderLookup(id), in: .production, before: end)
        guard let status = try reply.optionalInteger("status") else {
            throw .unreadable("the answer to an order has no `status`")
        }
        guard status == 0 else { return nil }
        var list = TransactionList(in: .production)
        try list.add(try reply.texts("signedTransactions"), by: verifier, now: time.now())
        return list
    }
}
