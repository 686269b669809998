import Foundation
import TenureAppStore
import TenureCore

/// Changes of plan and of price.
extension AppStoreState {
    /// Changes to another product of the group: at once if its level is higher, at the next renewal if it is lower.
    /// Changing to the current product cancels such a change.
    /// A change of plan switches renewal on again, without a notification.
    mutating func changePlan(
        _ customer: String, to id: String, offer name: String? = nil, as wanted: PlanChange
    ) throws(AppStoreStateError) {
        let product = try productPlace(id)
        let place = try subscription(customer, id)
        let it = subscriptions[place]
        guard it.state == .active else { throw .wrongState(customer: customer, product: id, must: "be active") }
        guard products[product].isOnSale else { throw .notForSale(product: id) }
        var offer: SubscriptionOffer?
        if let name {
            guard let found = products[product].offers.first(where: { $0.id == name }) else {
                throw .noOffer(product: id, offer: name)
            }
            offer = found
        }
        let change = planChange(from: it.product, to: product)
        guard change == wanted else {
            throw .wrongState(customer: customer, product: id, must: "be \(wanted.phrase)")
        }
        subscriptions[place].autoRenews = true
        switch change {
        case .stay:
            subscriptions[place].renewsAs = product
            if let offer {
                subscriptions[place].nextOffer = offer
                subscriptions[place].offerPaymentsLeft = offer.count
            }
            settleRenewalPrice(of: place)
            notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, about: place)
        case .upgrade: upgrade(place, to: product, offer: offer)
        case .downgrade:
            subscriptions[place].renewsAs = product
            subscriptions[place].nextOffer = offer
            subscriptions[place].offerPaymentsLeft = offer?.count ?? 0
            settleRenewalPrice(of: place)
            notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .downgrade, about: place)
        }
    }

    /// Compares the levels. Within a level, a plan of another length begins at the next renewal.
    private func planChange(from old: Int, to new: Int) -> PlanChange {
        if old == new { return .stay }
        let (old, new) = (products[old], products[new])
        return new.level < old.level || new.level == old.level && new.period == old.period ? .upgrade : .downgrade
    }

    /// Begins the new product now, and refunds the rest of the old one.
    private mutating func upgrade(_ place: Int, to product: Int, offer: SubscriptionOffer?) {
        let it = subscriptions[place]
        change(it.current) { $0.isUpgraded = true }
        let transaction = record(
            product, account: it.account, original: it.original, offer: offer, period: now,
            appAccountToken: transactions[it.current].appAccountToken)
        subscriptions[place].current = transaction.index
        subscriptions[place].product = product
        subscriptions[place].renewsAs = product
        subscriptions[place].priceIncrease = nil
        take(offer, in: place)
        settleRenewalPrice(of: place)
        watch(place)
        notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .upgrade, about: place)
        for member in it.sharedWith { follow(member) { $0.notify(.didChangeRenewalPref, .upgrade, about: member) } }
    }

    /// The developer raises a price. Subscribers are notified, and asked if `needsConsent`.
    mutating func raisePrice(
        of id: String, to price: Int64, needsConsent: Bool = true
    ) throws(AppStoreStateError) {
        let product = try productPlace(id)
        products[product].price = price
        products[product].prices = [:]
        for place in subscriptions.indices
        where subscriptions[place].renewsAs == product && subscriptions[place].sharedFrom == nil
            && subscriptions[place].state == .active && subscriptions[place].autoRenews
        {
            subscriptions[place].priceIncrease = .init(
                price: price, status: needsConsent ? .notYetAnswered : .accepted)
            settleRenewalPrice(of: place)
            notify(.priceIncrease, needsConsent ? .pending : .accepted, about: place)
        }
    }

    /// The customer agrees to a higher price.
    mutating func consent(_ customer: String, _ product: String) throws(AppStoreStateError) {
        let place = try subscription(customer, product)
        guard subscriptions[place].state == .active, subscriptions[place].priceIncrease?.status == .notYetAnswered
        else { throw .wrongState(customer: customer, product: product, must: "have a price increase to answer") }
        subscriptions[place].priceIncrease?.status = .accepted
        notify(.priceIncrease, .accepted, about: place)
    }
}

enum PlanChange: Sendable, Hashable {
    case upgrade, downgrade, stay

    fileprivate var phrase: String {
        switch self {
        case .upgrade: "of a higher level than the active subscription"
        case .downgrade: "of a lower level than the active subscription"
        case .stay: "the product of the active subscription"
        }
    }
}
