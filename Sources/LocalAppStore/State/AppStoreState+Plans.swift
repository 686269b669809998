import Foundation
import TenureAppStore
import TenureCore

/// Changes of plan and of price.
extension AppStoreState {
    /// Changes a subscription to another product of its group: at once if the product's level is higher, at the next
    /// renewal if it is lower. Changing to the current product cancels a change that waits for the renewal. A change of
    /// plan switches renewal on again, without a notification. Throws if the change isn't of the `wanted` kind.
    mutating func changePlan(
        _ customer: String, to id: String, offer name: String? = nil, as wanted: PlanChange
    ) throws(AppStoreStateError) {
        let product = try productIndex(id)
        let index = try subscription(customer, id)
        let old = subscriptions[index]
        guard old.state == .active else { throw .wrongState(customer: customer, product: id, must: "be active") }
        guard products[product].isOnSale else { throw .notForSale(product: id) }
        var offer: SubscriptionOffer?
        if let name {
            guard let namedOffer = products[product].offers.first(where: { $0.id == name }) else {
                throw .noOffer(product: id, offer: name)
            }
            offer = namedOffer
        }
        let change = planChange(from: old.product, to: product)
        guard change == wanted else { throw .wrongState(customer: customer, product: id, must: "be \(wanted.phrase)") }
        subscriptions[index].autoRenews = true
        guard change != .upgrade else { return upgrade(index, to: product, offer: offer) }
        subscriptions[index].renewsAs = product
        // Staying with the product that would renew anyway keeps the current offer, unless there is a new one. A
        // downgrade, and canceling a downgrade, end the current offer.
        let keepsOffer = change != .downgrade && old.renewsAs == product && offer == nil
        if !keepsOffer {
            subscriptions[index].nextOffer = offer
            subscriptions[index].offerPaymentsLeft = offer?.count ?? 0
        }
        updateRenewalPrice(of: index)
        notify(
            offer == nil ? .didChangeRenewalPref : .offerRedeemed, change == .downgrade ? .downgrade : nil, about: index
        )
    }

    /// Compares the levels of two products. Within a level, a product with another period counts as a downgrade,
    /// because it begins at the next renewal.
    private func planChange(from old: Int, to new: Int) -> PlanChange {
        if old == new { return .stay }
        let (old, new) = (products[old], products[new])
        return new.level < old.level || new.level == old.level && new.period == old.period ? .upgrade : .downgrade
    }

    /// Begins a period of the new product now, and marks the transaction of the old product as upgraded.
    private mutating func upgrade(_ index: Int, to product: Int, offer: SubscriptionOffer?) {
        let old = subscriptions[index]
        change(old.currentTransaction) { $0.isUpgraded = true }
        let transaction = addTransaction(
            product, account: old.account, original: old.originalTransaction, offer: offer, periodStart: now,
            appAccountToken: transactions[old.currentTransaction].appAccountToken)
        subscriptions[index].currentTransaction = transaction.index
        subscriptions[index].product = product
        subscriptions[index].renewsAs = product
        subscriptions[index].priceIncrease = nil
        setFurtherPayments(of: offer, in: index)
        updateRenewalPrice(of: index)
        schedulePeriodEnd(of: index)
        notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .upgrade, about: index)
        updateShares(of: index, .didChangeRenewalPref, .upgrade)
    }

    /// The developer raises a price. Subscribers are notified, and asked if `needsConsent`.
    mutating func raisePrice(of id: String, to price: Int64, needsConsent: Bool = true) throws(AppStoreStateError) {
        let product = try productIndex(id)
        products[product].price = price
        products[product].prices = [:]
        for index in subscriptions.indices
        where subscriptions[index].renewsAs == product && subscriptions[index].sharedFrom == nil
            && subscriptions[index].state == .active && subscriptions[index].autoRenews
        {
            subscriptions[index].priceIncrease = .init(price: price, status: needsConsent ? .notYetAnswered : .accepted)
            updateRenewalPrice(of: index)
            notify(.priceIncrease, needsConsent ? .pending : .accepted, about: index)
        }
    }

    /// The customer agrees to a higher price.
    mutating func consent(_ customer: String, _ product: String) throws(AppStoreStateError) {
        let index = try subscription(customer, product)
        guard subscriptions[index].state == .active, subscriptions[index].priceIncrease?.status == .notYetAnswered
        else { throw .wrongState(customer: customer, product: product, must: "have a price increase to answer") }
        subscriptions[index].priceIncrease?.status = .accepted
        notify(.priceIncrease, .accepted, about: index)
    }
}

/// How a product that the customer chooses compares with the product of their subscription.
enum PlanChange: Sendable, Hashable {
    case upgrade, downgrade
    /// The product is the current one.
    case stay

    /// What the product must be for the change, as the end of a message.
    fileprivate var phrase: String {
        switch self {
        case .upgrade: "of a higher level than the active subscription"
        case .downgrade: "of a lower level than the active subscription"
        case .stay: "the product of the active subscription"
        }
    }
}
