import Foundation
package import TenureAppStore
import TenureCore

/// Asking for money back, and getting it or not. Of in-app purchases only: a refund of the app is told to no server.
extension World {
    /// - Parameter periodsAgo: of a subscription, how many transactions before the latest one; 0 is the latest.
    func transaction(_ customer: String, _ id: String, periodsAgo: Int = 0) throws(WorldError) -> StoreTransaction {
        let product = try productPlace(id)
        let account = try accountPlace(customer)
        let own = accounts[account].transactions.filter { transactions[$0].product == product }
        guard periodsAgo >= 0, periodsAgo < own.count else { throw .neverBought(customer: customer, product: id) }
        return transactions[own[own.count - 1 - periodsAgo]]
    }

    /// The customer asks for a refund: the developer is asked how much was consumed.
    package mutating func requestRefund(
        _ customer: String, _ product: String, reason: ConsumptionRequestReason = .unintendedPurchase,
        periodsAgo: Int = 0
    ) throws(WorldError) {
        let transaction = try transaction(customer, product, periodsAgo: periodsAgo)
        tell(.consumptionRequest, of: transaction, reason: reason)
    }

    package mutating func declineRefund(
        _ customer: String, _ product: String, periodsAgo: Int = 0
    ) throws(WorldError) {
        let transaction = try transaction(customer, product, periodsAgo: periodsAgo)
        guard transaction.revocation == nil else {
            throw .unfit(customer: customer, product: product, must: "not be refunded")
        }
        tell(.refundDeclined, of: transaction)
    }

    /// Gives back all of a payment, or a part of it. Of a subscription the running period ends; an earlier one does not
    /// matter.
    ///
    /// - Parameter percentage: thousandths of a per cent; nil: all.
    package mutating func refund(
        _ customer: String, _ product: String, percentage: Int64? = nil, reason: RevocationReason = .other,
        periodsAgo: Int = 0
    ) throws(WorldError) {
        let transaction = try transaction(customer, product, periodsAgo: periodsAgo)
        guard transaction.revocation == nil, !transaction.isFamilyShared else {
            throw .unfit(customer: customer, product: product, must: "be paid for and not be refunded")
        }
        change(transaction.index) { [now] in
            $0.revocation = .init(
                date: now, reason: reason, type: percentage == nil ? .refundFull : .refundProrated,
                percentage: percentage)
        }
        if let subscription = subscription(of: transaction), subscription.current == transaction.index,
            subscription.isRunning
        {
            // The App Store switches the renewal off before it gives the money back.
            if subscription.autoRenews {
                subscriptions[subscription.index].autoRenews = false
                notify(.didChangeRenewalStatus, .autoRenewDisabled, about: subscription.index)
            }
            subscriptions[subscription.index].state = .revoked
            tell(.refund, of: transactions[transaction.index])
            for member in subscription.sharedWith { revokeShare(subscription: member) }
        } else {
            tell(.refund, of: transactions[transaction.index])
            guard sharedPurchases.remove(transaction.index) != nil else { return }
            revokeShares(in: transactions[transaction.index])
        }
    }

    /// The refund is taken back: what was revoked is there again, until the day on which it would have ended.
    package mutating func reverseRefund(
        _ customer: String, _ product: String, periodsAgo: Int = 0
    ) throws(WorldError) {
        let transaction = try transaction(customer, product, periodsAgo: periodsAgo)
        guard let revocation = transaction.revocation, revocation.type != .familyRevoke else {
            throw .unfit(customer: customer, product: product, must: "be refunded")
        }
        change(transaction.index) { $0.revocation = nil }
        if let subscription = subscription(of: transaction), subscription.current == transaction.index,
            subscription.state == .revoked
        {
            let isOver = (transaction.expiresDate ?? .distantPast) <= now
            subscriptions[subscription.index].state = isOver ? .expired(.customerCancelled) : .active
        }
        tell(.refundReversed, of: transactions[transaction.index])
    }

    /// The disputed transaction, beside the subscription as it is.
    private mutating func tell(
        _ type: NotificationType, of transaction: StoreTransaction, reason: ConsumptionRequestReason? = nil
    ) {
        notify(
            type, app: transaction.app, about: .transaction(transaction, subscription(of: transaction), reason))
    }
}
