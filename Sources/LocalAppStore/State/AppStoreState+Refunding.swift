import Foundation
package import TenureAppStore

/// Asking for refunds, and granting or declining them. These operations are only for in-app purchases: no notification
/// reports a refund of the app.
extension AppStoreState {
    /// Returns a transaction of the customer for a product. Throws if the customer bought the product less often.
    ///
    /// - Parameter periodsAgo: how many transactions before the latest one; 0 is the latest.
    func transaction(_ customer: String, _ id: String, periodsAgo: Int = 0) throws(AppStoreStateError)
        -> AppStoreTransaction
    {
        let product = try productIndex(id)
        let account = try accountIndex(customer)
        let own = accounts[account].transactions.filter { transactions[$0].product == product }
        guard periodsAgo >= 0, periodsAgo < own.count else { throw .neverBought(customer: customer, product: id) }
        return transactions[own[own.count - 1 - periodsAgo]]
    }

    /// The customer asks for a refund, and Apple asks the developer how far the purchase was consumed.
    mutating func requestRefund(
        _ customer: String, _ product: String, reason: ConsumptionRequestReason = .unintendedPurchase,
        periodsAgo: Int = 0
    ) throws(AppStoreStateError) {
        let transaction = try transaction(customer, product, periodsAgo: periodsAgo)
        notify(.consumptionRequest, about: transaction, reason: reason)
    }

    /// The App Store declines a refund.
    mutating func declineRefund(_ customer: String, _ product: String, periodsAgo: Int = 0) throws(AppStoreStateError) {
        let transaction = try transaction(customer, product, periodsAgo: periodsAgo)
        guard transaction.revocation == nil else {
            throw .wrongState(customer: customer, product: product, must: "not be refunded already")
        }
        notify(.refundDeclined, about: transaction)
    }

    /// Refunds a payment, in full or in part. For a subscription, a refund of the running period ends the period. A
    /// refund of an earlier period doesn't change the running period.
    ///
    /// - Parameter percentage: in thousandths of a percent. Nil refunds all.
    package mutating func refund(
        _ customer: String, _ product: String, percentage: Int64? = nil, reason: RevocationReason = .other,
        periodsAgo: Int = 0
    ) throws(AppStoreStateError) {
        let transaction = try transaction(customer, product, periodsAgo: periodsAgo)
        guard transaction.revocation == nil, !transaction.isFamilyShared else {
            throw .wrongState(customer: customer, product: product, must: "be paid for, and not be refunded already")
        }
        change(transaction.index) { [now] in
            $0.revocation = .init(
                date: now, reason: reason, type: percentage == nil ? .refundFull : .refundProrated,
                percentage: percentage)
        }
        if let subscription = subscription(of: transaction), subscription.currentTransaction == transaction.index,
            subscription.isRunning
        {
            // The App Store switches renewal off before it refunds.
            if subscription.autoRenews {
                subscriptions[subscription.index].autoRenews = false
                notify(.didChangeRenewalStatus, .autoRenewDisabled, about: subscription.index)
            }
            subscriptions[subscription.index].state = .revoked
            notify(.refund, about: transactions[transaction.index])
            for share in subscription.sharedWith { revokeShare(subscription: share) }
        } else {
            notify(.refund, about: transactions[transaction.index])
            guard sharedPurchases.remove(transaction.index) != nil else { return }
            revokeShares(in: transactions[transaction.index])
        }
    }

    /// Reverses a refund: the purchase is valid again, until its original end.
    mutating func reverseRefund(_ customer: String, _ product: String, periodsAgo: Int = 0) throws(AppStoreStateError) {
        let transaction = try transaction(customer, product, periodsAgo: periodsAgo)
        guard let revocation = transaction.revocation, revocation.type != .familyRevoke else {
            throw .wrongState(customer: customer, product: product, must: "be refunded")
        }
        change(transaction.index) { $0.revocation = nil }
        if let subscription = subscription(of: transaction), subscription.currentTransaction == transaction.index,
            subscription.state == .revoked
        {
            let hasEnded = (transaction.expiresDate ?? .distantPast) <= now
            subscriptions[subscription.index].state = hasEnded ? .expired(.customerCancelled) : .active
        }
        notify(.refundReversed, about: transactions[transaction.index])
    }

    /// Sends a notification about a transaction, with the current state of its subscription.
    private mutating func notify(
        _ type: NotificationType, about transaction: AppStoreTransaction, reason: ConsumptionRequestReason? = nil
    ) { notify(type, app: transaction.app, about: .transaction(transaction, subscription(of: transaction), reason)) }
}
