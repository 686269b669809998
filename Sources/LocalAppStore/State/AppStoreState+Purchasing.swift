package import Foundation
import TenureAppStore
import TenureCore

/// Buying what the app sells, and the periods of a subscription.
extension AppStoreState {
    /// Buys a product. A subscription can be bought for the first time, or after it has ended. A customer who never had
    /// a subscription of the group gets the introductory offer; `offer` selects another offer.
    @discardableResult
    package mutating func buy(
        _ id: String, _ customer: String, quantity: Int64 = 1, offer name: String? = nil, appAccountToken: UUID? = nil
    ) throws(AppStoreStateError) -> AppStoreTransaction {
        let account = try accountIndex(customer)
        let product = try productIndex(id)
        let app = app(ofProduct: product)
        guard products[product].isOnSale else { throw .notForSale(product: id) }
        guard let acquisition = acquisition(of: account, app: app) else {
            throw .hasNoApp(customer: customer, app: apps[app].bundleID)
        }
        guard accounts[account].billingWorks else { throw .billingFails(customer: customer) }
        guard products[product].type == .autoRenewable else {
            let transaction = addTransaction(
                product, account: account, quantity: max(1, quantity), appAccountToken: appAccountToken)
            notify(.oneTimeCharge, app: app, about: .transaction(transaction, nil, nil))
            return transaction
        }
        let former = subscription(of: account, inGroupOf: product)
        if let former, former.isRunning { throw .hasSubscription(customer: customer, product: id) }
        let offer = try offer(name, of: product, customer: customer, former: former)
        return subscribe(
            product, account: account, app: acquisition.app, former: former, offer: offer,
            appAccountToken: appAccountToken)
    }

    /// Returns the offer for a purchase: the named offer, or the introductory offer for a customer who never had a
    /// subscription of the group (`former` is nil).
    private func offer(
        _ name: String?, of product: Int, customer: String, former: Subscription?
    ) throws(AppStoreStateError) -> SubscriptionOffer? {
        guard let name else { return former == nil ? products[product].introductoryOffer : nil }
        guard let offer = products[product].offers.first(where: { $0.id == name }) else {
            throw .noOffer(product: products[product].id, offer: name)
        }
        // Promotional offers and win-back offers are for earlier subscribers.
        if former == nil, offer.type == .promotional || offer.type == .winBack {
            throw .notEligible(customer: customer, offer: name)
        }
        return offer
    }

    /// Begins a new subscription, or begins the former subscription again.
    private mutating func subscribe(
        _ product: Int, account: Int, app: Int, former: Subscription?, offer: SubscriptionOffer?, appAccountToken: UUID?
    ) -> AppStoreTransaction {
        let transaction = addTransaction(
            product, account: account, original: former?.originalTransaction, offer: offer, periodStart: now,
            appAccountToken: appAccountToken ?? former.flatMap { transactions[$0.currentTransaction].appAccountToken })
        let index: Int
        if let former {
            index = former.index
            // Gaps of up to 60 days don't interrupt a subscription.
            let ended = transactions[former.currentTransaction].expiresDate ?? .distantPast
            if now.timeIntervalSince(ended) > 60 * 86_400 { subscriptions[index].streakBegan = now }
            subscriptions[index].currentTransaction = transaction.index
        } else {
            index = subscriptions.count
            subscriptions.append(
                Subscription(
                    index: index, account: account, app: app, group: products[product].group ?? "",
                    originalTransaction: transaction.index, currentTransaction: transaction.index, product: product,
                    renewsAs: product, renewalPrice: 0, streakBegan: now, sharedFrom: nil))
            accounts[account].subscriptions.append(index)
        }
        subscriptions[index].product = product
        subscriptions[index].renewsAs = product
        subscriptions[index].autoRenews = true
        subscriptions[index].state = .active
        subscriptions[index].renewals = 0
        subscriptions[index].priceIncrease = nil
        setFurtherPayments(of: offer, in: index)
        updateRenewalPrice(of: index)
        schedulePeriodEnd(of: index)
        notify(.subscribed, former == nil ? .initialBuy : .resubscribe, about: index)
        if subscriptions[index].isShared { shareSubscription(index) }
        return transactions[transaction.index]
    }

    /// Adds a transaction to the account's history.
    ///
    /// - Parameters:
    ///   - original: the index of the first transaction. Nil if this transaction is the first.
    ///   - periodStart: the beginning of a subscription's period. Nil for other products.
    ///   - price: the price of one unit in milliunits. Nil for the price of the offer or the product.
    ///   - sharedFrom: the index of the purchaser's transaction, for a family member. Nil if the account pays.
    ///   - expiresDate: the end of a shared period. Nil to compute the end from `periodStart`.
    mutating func addTransaction(
        _ product: Int, account: Int, quantity: Int64 = 1, original: Int? = nil, offer: SubscriptionOffer? = nil,
        periodStart: Date? = nil, reason: TransactionReason = .purchase, price: Int64? = nil,
        appAccountToken: UUID? = nil, sharedFrom: Int? = nil, expiresDate: Date? = nil
    ) -> AppStoreTransaction {
        let index = transactions.count
        let storefront = accounts[account].storefront
        let length =
            switch offer?.discount {
            case .freeTrial, .payUpFront: offer?.period
            default: products[product].period
            }
        revision += 1
        let unit = offer?.price ?? price ?? products[product].price(in: storefront)
        let transaction = AppStoreTransaction(
            index: index, originalTransaction: original ?? index, account: account, app: app(ofProduct: product),
            product: product, purchaseDate: periodStart ?? now,
            originalPurchaseDate: original.map { transactions[$0].purchaseDate } ?? periodStart ?? now,
            expiresDate: expiresDate ?? periodStart.flatMap { start in length.map { end(of: $0, from: start) } },
            quantity: quantity, reason: reason, offer: offer, storefront: storefront, price: unit * quantity,
            appAccountToken: appAccountToken, sharedFrom: sharedFrom, revision: revision, modifiedAt: now)
        transactions.append(transaction)
        accounts[account].transactions.append(index)
        return transaction
    }

    /// Sets the offer of the next renewals after the offer's first payment: only an offer that is paid as you go has
    /// further payments.
    mutating func setFurtherPayments(of offer: SubscriptionOffer?, in index: Int) {
        let furtherPayments = offer?.discount == .payAsYouGo ? (offer?.count ?? 1) - 1 : 0
        subscriptions[index].nextOffer = furtherPayments > 0 ? offer : nil
        subscriptions[index].offerPaymentsLeft = furtherPayments
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

    /// Returns the account's own last subscription in the group of a product, not one that the family shares. Nil if
    /// the account never had such a subscription.
    func subscription(of account: Int, inGroupOf product: Int) -> Subscription? {
        // Groups of two apps can have the same name, so also compare the app.
        accounts[account].subscriptions.lazy.map { subscriptions[$0] }.last {
            $0.app == app(ofProduct: product) && $0.group == products[product].group && $0.sharedFrom == nil
        }
    }

    /// Returns the index of the customer's own subscription in the group of a product.
    func subscription(_ customer: String, _ id: String) throws(AppStoreStateError) -> Int {
        let product = try productIndex(id)
        guard let existing = subscription(of: try accountIndex(customer), inGroupOf: product),
            products[product].type == .autoRenewable
        else { throw .noSubscription(customer: customer, product: id) }
        return existing.index
    }
}
