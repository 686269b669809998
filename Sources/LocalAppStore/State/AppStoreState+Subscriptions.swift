import Foundation
import TenureAppStore

/// The operations on subscriptions that already exist, and what happens at the end of a period.
extension AppStoreState {
    /// Whether the subscription could be charged for the next period now.
    func canRenew(_ index: Int) -> Bool {
        let subscription = subscriptions[index]
        return subscription.autoRenews && accounts[subscription.account].billingWorks
            && products[subscription.renewsAs].isOnSale
            && subscription.priceIncrease?.status != .notYetAnswered && !hasRenewedEnough(index)
    }

    /// Charges a subscription for the next period. The next period follows the current one, or begins now if the
    /// customer has no access anymore.
    ///
    /// - Parameter recovering: whether an earlier charge failed.
    mutating func renew(_ index: Int, recovering: Bool) {
        let subscription = subscriptions[index]
        let former = transactions[subscription.currentTransaction]
        let end = former.expiresDate ?? now
        let hadAccess = subscription.state == .active || subscription.gracePeriodEnd != nil
        let offer = subscription.nextOffer
        let transaction = addTransaction(
            subscription.renewsAs, account: subscription.account, original: subscription.originalTransaction,
            offer: offer, periodStart: hadAccess ? end : now, reason: .renewal, price: subscription.renewalPrice,
            appAccountToken: former.appAccountToken)
        subscriptions[index].renewals += 1
        beginPeriod(of: index, transaction, furtherPayments: max(0, subscription.offerPaymentsLeft - 1), of: offer)
        notify(.didRenew, recovering ? .billingRecovery : nil, about: index)
        updateShares(of: index, .didRenew)
    }

    /// Ends a period that wasn't renewed in advance: renews the subscription now, begins the grace period or billing
    /// retry, or ends the subscription for the reason that applies.
    mutating func endPeriod(of index: Int) {
        let subscription = subscriptions[index]
        if !subscription.autoRenews || hasRenewedEnough(index) {
            expire(index, .customerCancelled)
        } else if subscription.priceIncrease?.status == .notYetAnswered {
            expire(index, .priceIncreaseNotAccepted)
        } else if !products[subscription.renewsAs].isOnSale {
            expire(index, .productUnavailable)
        } else if !accounts[subscription.account].billingWorks {
            failToRenew(index)
        } else {
            renew(index, recovering: false)
        }
    }

    /// Begins the grace period or billing retry, because the renewal can't be charged.
    private mutating func failToRenew(_ index: Int) {
        let subscription = subscriptions[index]
        var subtype: NotificationSubtype?
        subscriptions[index].state = .billingRetry
        if let days = apps[subscription.app].gracePeriodDays {
            let end = now.addingTimeInterval(seconds(ofDays: Double(days)))
            subscriptions[index].state = .gracePeriod(until: end)
            scheduledEvents.schedule(
                .gracePeriodEnd(subscription: index, transaction: subscription.currentTransaction), at: end)
            subtype = .gracePeriod
        }
        scheduledEvents.schedule(
            .billingRetryEnd(subscription: index, transaction: subscription.currentTransaction),
            at: now.addingTimeInterval(seconds(ofDays: Self.billingRetryDays)))
        notify(.didFailToRenew, subtype, about: index)
        updateShares(of: index, .didFailToRenew, subtype)
    }

    /// Ends the grace period, because the renewal still can't be charged. The App Store continues to try.
    mutating func endGracePeriod(of index: Int) {
        subscriptions[index].state = .billingRetry
        notify(.gracePeriodExpired, about: index)
        updateShares(of: index, .gracePeriodExpired)
    }

    /// Ends a subscription for the reason `intent`.
    mutating func expire(_ index: Int, _ intent: ExpirationIntent) {
        subscriptions[index].state = .expired(intent)
        subscriptions[index].autoRenews = false
        notify(.expired, intent.subtype, about: index)
        updateShares(of: index, .expired, intent.subtype)
    }

    /// Begins a period of a subscription, which `transaction` pays for.
    ///
    /// - Parameter furtherPayments: the number of the next renewals at the price of `offer`.
    mutating func beginPeriod(
        of index: Int, _ transaction: AppStoreTransaction, furtherPayments: Int, of offer: SubscriptionOffer?
    ) {
        subscriptions[index].currentTransaction = transaction.index
        subscriptions[index].product = transaction.product
        subscriptions[index].renewsAs = transaction.product
        subscriptions[index].state = .active
        subscriptions[index].priceIncrease = nil
        subscriptions[index].nextOffer = furtherPayments > 0 ? offer : nil
        subscriptions[index].offerPaymentsLeft = furtherPayments
        updateRenewalPrice(of: index)
        schedulePeriodEnd(of: index)
    }

    /// Computes the price of the next renewal again, after the offer, the price or the product has changed.
    mutating func updateRenewalPrice(of index: Int) {
        let subscription = subscriptions[index]
        subscriptions[index].renewalPrice =
            subscription.nextOffer?.price ?? subscription.priceIncrease?.price
            ?? products[subscription.renewsAs].price(in: accounts[subscription.account].storefront)
    }

    /// Schedules the renewal and the end of a subscription's current period.
    mutating func schedulePeriodEnd(of index: Int) {
        let current = subscriptions[index].currentTransaction
        guard let end = transactions[current].expiresDate else { return }
        scheduledEvents.schedule(
            .renewal(subscription: index, transaction: current), at: end.addingTimeInterval(-Self.renewalLead))
        scheduledEvents.schedule(.periodEnd(subscription: index, transaction: current), at: end)
    }

    // MARK: Operations

    /// The customer switches automatic renewal off, or on again.
    mutating func setAutoRenew(_ isOn: Bool, _ customer: String, _ product: String) throws(AppStoreStateError) {
        let index = try subscription(customer, product)
        guard subscriptions[index].isRunning, subscriptions[index].autoRenews != isOn else {
            throw .wrongState(
                customer: customer, product: product, must: isOn ? "run and not renew" : "renew automatically")
        }
        subscriptions[index].autoRenews = isOn
        notify(.didChangeRenewalStatus, isOn ? .autoRenewEnabled : .autoRenewDisabled, about: index)
    }

    /// The customer can pay again. Every subscription of the account with a failed charge is renewed, if it can be.
    /// Throws if the subscription in the group of `product` has no failed charge.
    mutating func recover(_ customer: String, _ product: String) throws(AppStoreStateError) {
        let index = try subscription(customer, product)
        guard subscriptions[index].isChargeDue else {
            throw .wrongState(customer: customer, product: product, must: "be in a grace period or billing retry")
        }
        let account = subscriptions[index].account
        accounts[account].billingWorks = true
        for due in accounts[account].subscriptions
        where subscriptions[due].isChargeDue && subscriptions[due].sharedFrom == nil && canRenew(due) {
            renew(due, recovering: true)
        }
    }

    /// The developer extends the next renewal date of a transaction's subscription. Returns the new date; nil if there
    /// is no active subscription.
    mutating func extend(_ transaction: AppStoreTransaction, by days: Int) -> Date? {
        guard let subscription = subscription(of: transaction), subscription.state == .active,
            let end = transactions[subscription.currentTransaction].expiresDate
        else { return nil }
        let date = end.addingTimeInterval(Double(days) * 86_400)
        change(subscription.currentTransaction) { $0.expiresDate = date }
        subscriptions[subscription.index].extensions.append(now)
        schedulePeriodEnd(of: subscription.index)
        notify(.renewalExtended, about: subscription.index)
        for share in subscription.sharedWith {
            change(subscriptions[share].currentTransaction) { $0.expiresDate = date }
            notify(.renewalExtended, about: share)
        }
        return date
    }

    /// Extends the renewal dates of all subscribers of a product. An empty list of storefronts means all. Sends one
    /// notification for each subscription, and one notification with the numbers of extended and failed subscriptions.
    mutating func extendAll(
        _ id: String, by days: Int, request: String, in storefronts: [String]
    ) throws(AppStoreStateError) {
        let product = try productIndex(id)
        var (succeeded, failed) = (0, 0)
        for index in subscriptions.indices
        where subscriptions[index].product == product && subscriptions[index].sharedFrom == nil
            && subscriptions[index].isRunning
        {
            let subscription = subscriptions[index]
            let storefront = accounts[subscription.account].storefront.code
            guard storefronts.isEmpty || storefronts.contains(storefront) else { continue }
            if extend(transactions[subscription.currentTransaction], by: days) != nil {
                succeeded += 1
            } else {
                failed += 1
                notify(.renewalExtension, .failure, about: index)
            }
        }
        let summary = ExtensionSummary(
            requestIdentifier: request, product: product, storefronts: storefronts, completedAt: now,
            succeeded: succeeded, failed: failed)
        massExtensions.append(summary)
        notify(.renewalExtension, .summary, app: app(ofProduct: product), about: .extensionSummary(summary))
    }

    // MARK: Changes of plan and of price

    /// Changes a subscription to another product of its group: at once if the product's level is higher, at the next
    /// renewal if it is lower. Changing to the current product cancels a change that waits for the renewal. A change of
    /// plan switches renewal on again, without a notification. Throws if the change to this product isn't of the
    /// `wanted` kind.
    mutating func changePlan(
        _ customer: String, to id: String, offer name: String? = nil, as wanted: PlanChange
    ) throws(AppStoreStateError) {
        let product = try productIndex(id)
        let index = try subscription(customer, id)
        let old = subscriptions[index]
        guard old.state == .active else { throw .wrongState(customer: customer, product: id, must: "be active") }
        guard products[product].isOnSale else { throw .notForSale(product: id) }
        var offer: SubscriptionOffer?
        if let name { offer = try self.offer(named: name, of: product) }
        let change = planChange(from: old.product, to: product)
        guard change == wanted else { throw .wrongState(customer: customer, product: id, must: "be \(wanted.phrase)") }
        subscriptions[index].autoRenews = true
        if change == .upgrade { return upgrade(index, to: product, offer: offer) }
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
        let isUpgrade = new.level < old.level || (new.level == old.level && new.period == old.period)
        return isUpgrade ? .upgrade : .downgrade
    }

    /// Begins a period of the new product now, and marks the transaction of the old product as upgraded.
    private mutating func upgrade(_ index: Int, to product: Int, offer: SubscriptionOffer?) {
        let old = subscriptions[index]
        change(old.currentTransaction) { $0.isUpgraded = true }
        let transaction = addTransaction(
            product, account: old.account, original: old.originalTransaction, offer: offer, periodStart: now,
            appAccountToken: transactions[old.currentTransaction].appAccountToken)
        beginPeriod(of: index, transaction, furtherPayments: offer?.furtherPayments ?? 0, of: offer)
        notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .upgrade, about: index)
        updateShares(of: index, .didChangeRenewalPref, .upgrade)
    }

    /// The developer raises a price, which then applies to every storefront. Subscribers are notified. If
    /// `needsConsent` is true, they are asked, and a subscriber who doesn't answer isn't renewed.
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

extension ExpirationIntent {
    /// The subtype of the notification `EXPIRED`; nil if Apple has none for the reason.
    fileprivate var subtype: NotificationSubtype? {
        switch self {
        case .customerCancelled: .voluntary
        case .billingError: .billingRetry
        case .priceIncreaseNotAccepted: .priceIncrease
        case .productUnavailable: .productNotForSale
        case .other: nil
        }
    }
}
