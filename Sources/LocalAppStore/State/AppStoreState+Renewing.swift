import Foundation
import TenureAppStore
import TenureCore

/// What happens to a subscription at the end of its period.
extension AppStoreState {
    func canRenew(_ subscription: Int) -> Bool {
        let it = subscriptions[subscription]
        return it.autoRenews && accounts[it.account].billingWorks && products[it.renewsAs].isOnSale
            && it.priceIncrease?.status != .notYetAnswered && !hasRenewedEnough(subscription)
    }

    /// Charges for the next period. It follows the last one, or begins now if access had ended meanwhile.
    mutating func renew(_ subscription: Int, recovering: Bool) {
        let it = subscriptions[subscription]
        let former = transactions[it.current]
        let end = former.expiresDate ?? now
        let hadAccess = it.state == .active || it.gracePeriodEnd != nil
        let offer = it.nextOffer
        let transaction = addTransaction(
            it.renewsAs, account: it.account, original: it.original, offer: offer, period: hadAccess ? end : now,
            reason: .renewal, price: it.renewalPrice, appAccountToken: former.appAccountToken)
        subscriptions[subscription].current = transaction.index
        subscriptions[subscription].product = it.renewsAs
        subscriptions[subscription].state = .active
        subscriptions[subscription].renewals += 1
        subscriptions[subscription].priceIncrease = nil
        if offer != nil, it.offerPaymentsLeft > 1 {
            subscriptions[subscription].offerPaymentsLeft = it.offerPaymentsLeft - 1
        } else {
            subscriptions[subscription].nextOffer = nil
            subscriptions[subscription].offerPaymentsLeft = 0
        }
        updateRenewalPrice(of: subscription)
        schedulePeriodEnd(of: subscription)
        notify(.didRenew, recovering ? .billingRecovery : nil, about: subscription)
        for member in it.sharedWith { follow(member) { $0.notify(.didRenew, about: member) } }
    }

    mutating func endPeriod(of subscription: Int) {
        let it = subscriptions[subscription]
        if !it.autoRenews || hasRenewedEnough(subscription) {
            expire(subscription, .customerCancelled)
        } else if it.priceIncrease?.status == .notYetAnswered {
            expire(subscription, .priceIncreaseNotAccepted)
        } else if !products[it.renewsAs].isOnSale {
            expire(subscription, .productUnavailable)
        } else if !accounts[it.account].billingWorks {
            failToRenew(subscription)
        } else {
            renew(subscription, recovering: false)
        }
    }

    private mutating func failToRenew(_ subscription: Int) {
        let it = subscriptions[subscription]
        if let days = apps[it.app].gracePeriodDays {
            let end = now.addingTimeInterval(seconds(ofDays: Double(days)))
            subscriptions[subscription].state = .gracePeriod(until: end)
            scheduledEvents.schedule(.gracePeriodEnd(subscription: subscription, transaction: it.current), at: end)
        } else {
            subscriptions[subscription].state = .billingRetry
        }
        let subtype: NotificationSubtype? = apps[it.app].gracePeriodDays == nil ? nil : .gracePeriod
        scheduledEvents.schedule(
            .billingRetryEnd(subscription: subscription, transaction: it.current),
            at: now.addingTimeInterval(seconds(ofDays: Self.billingRetryDays)))
        notify(.didFailToRenew, subtype, about: subscription)
        for member in it.sharedWith { follow(member) { $0.notify(.didFailToRenew, subtype, about: member) } }
    }

    mutating func endGracePeriod(of subscription: Int) {
        subscriptions[subscription].state = .billingRetry
        notify(.gracePeriodExpired, about: subscription)
        for member in subscriptions[subscription].sharedWith {
            follow(member) { $0.notify(.gracePeriodExpired, about: member) }
        }
    }

    mutating func expire(_ subscription: Int, _ intent: ExpirationIntent) {
        subscriptions[subscription].state = .expired(intent)
        subscriptions[subscription].autoRenews = false
        notify(.expired, intent.subtype, about: subscription)
        for member in subscriptions[subscription].sharedWith {
            follow(member) { $0.notify(.expired, intent.subtype, about: member) }
        }
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

    /// The customer's payment works again, and due amounts are charged.
    mutating func recover(_ customer: String, _ product: String) throws(AppStoreStateError) {
        let index = try subscription(customer, product)
        switch subscriptions[index].state {
        case .gracePeriod, .billingRetry: break
        case .active, .expired, .revoked:
            throw .wrongState(customer: customer, product: product, must: "be in a grace period or billing retry")
        }
        accounts[subscriptions[index].account].billingWorks = true
        renew(index, recovering: true)
    }

    /// The developer extends the next renewal date.
    mutating func extend(_ transaction: AppStoreTransaction, by days: Int) -> Date? {
        guard let subscription = subscription(of: transaction), subscription.state == .active,
            let end = transactions[subscription.current].expiresDate
        else { return nil }
        let date = end.addingTimeInterval(Double(days) * 86_400)
        change(subscription.current) { $0.expiresDate = date }
        subscriptions[subscription.index].extensions.append(now)
        schedulePeriodEnd(of: subscription.index)
        notify(.renewalExtended, about: subscription.index)
        for member in subscription.sharedWith {
            change(subscriptions[member].current) { $0.expiresDate = date }
            notify(.renewalExtended, about: member)
        }
        return date
    }

    /// Extends the renewal dates of all subscribers of a product, in some storefronts or all. Sends one notification
    /// for each subscription, and one with the numbers.
    mutating func extendAll(
        _ id: String, by days: Int, request: String, in storefronts: [String]
    ) throws(AppStoreStateError) {
        let product = try productIndex(id)
        var (succeeded, failed) = (0, 0)
        for index in subscriptions.indices
        where subscriptions[index].product == product && subscriptions[index].sharedFrom == nil
            && subscriptions[index].isRunning
        {
            let it = subscriptions[index]
            let storefront = accounts[it.account].storefront.code
            guard storefronts.isEmpty || storefronts.contains(storefront) else { continue }
            if extend(transactions[it.current], by: days) != nil {
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
}

extension ExpirationIntent {
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
