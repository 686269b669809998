package import Foundation
import TenureAppStore
package import TenureCore

/// The operations with which customers acquire, update and return the app, and buy what it sells.
extension AppStoreState {
    /// The account gets the app for the first time, or again after a refund. After a refund, the original version and
    /// date remain, and the refund is removed.
    ///
    /// - Parameters:
    ///   - bundleID: the app. Nil for the only app.
    ///   - name: the build of the release; on macOS, its marketing version. Nil for the release on sale now.
    ///   - price: the price in milliunits. Nil for the app's current price.
    package mutating func acquire(
        _ customer: String, app bundleID: String? = nil, on platform: Platform = .iOS, release name: String? = nil,
        price: Int64? = nil, way: AppStoreAcquisition.Way = .purchase, preorderDate: Date? = nil,
        licenseEnds: Date? = nil
    ) throws(AppStoreStateError) {
        let account = try accountIndex(customer)
        let app = try appIndex(bundleID)
        let paid = way == .promoCode ? 0 : price ?? apps[app].price(at: now)
        if let earlier = acquisition(of: account, app: app) {
            guard earlier.refundedAt != nil else { throw .hasApp(customer: customer, app: apps[app].bundleID) }
            acquisitions[earlier.index].refundedAt = nil
            acquisitions[earlier.index].gotAgainAt = now
            acquisitions[earlier.index].price = paid
            acquisitions[earlier.index].way = way
            return
        }
        let release = try self.release(of: app, on: platform, named: name)
        let index = acquisitions.count
        acquisitions.append(
            AppStoreAcquisition(
                index: index, account: account, app: app, platform: platform, release: release, date: now, way: way,
                price: paid, preorderDate: preorderDate, licenseEnds: way == .volumePurchase ? licenseEnds : nil,
                installedPlatform: platform, installedRelease: release))
        accounts[account].acquisitions.append(index)
        // From now on, the account has the purchases that its family shares.
        giveShares(to: account, app: app)
    }

    /// Returns the named release, or the release on sale now if `name` is nil.
    private func release(of app: Int, on platform: Platform, named name: String?) throws(AppStoreStateError)
        -> AppStoreRelease
    {
        let bundleID = apps[app].bundleID
        guard let name else {
            guard let release = apps[app].release(for: platform, at: now) else {
                throw .notReleased(app: bundleID, platform: platform, now)
            }
            return release
        }
        // Several releases may have this name, such as builds of one version on the Mac. Take the latest of them.
        guard
            let release = apps[app].releases.last(where: {
                ($0.platform == platform || (platform.inheritsFromIOS && $0.platform == .iOS))
                    && $0.reportedVersion(on: platform) == name && $0.releasedAt <= now
            })
        else { throw .noRelease(app: bundleID, platform: platform, named: name) }
        return release
    }

    /// The customer's devices get the release that is on sale now.
    ///
    /// - Parameter platform: the platform to update. Nil for the platform that is installed.
    mutating func update(
        _ customer: String, app bundleID: String? = nil, on platform: Platform? = nil
    ) throws(AppStoreStateError) {
        let acquisition = try acquisition(by: customer, app: bundleID)
        let platform = platform ?? acquisition.installedPlatform
        let release = try self.release(of: acquisition.app, on: platform, named: nil)
        acquisitions[acquisition.index].installedPlatform = platform
        acquisitions[acquisition.index].installedRelease = release
    }

    /// The App Store refunds the app, and sends no notification.
    mutating func refundApp(_ customer: String, app bundleID: String? = nil) throws(AppStoreStateError) {
        let acquisition = try acquisition(by: customer, app: bundleID)
        guard acquisition.refundedAt == nil, acquisition.price > 0 else {
            throw .appNotBought(customer: customer, app: apps[acquisition.app].bundleID)
        }
        acquisitions[acquisition.index].refundedAt = now
    }

    /// A parent withdraws the consent for a child's app.
    mutating func rescindConsent(_ customer: String, app bundleID: String? = nil) throws(AppStoreStateError) {
        let acquisition = try acquisition(by: customer, app: bundleID)
        notify(.rescindConsent, app: acquisition.app, about: .acquisition(acquisition.index))
    }

    /// Returns the customer's acquisition of the app, which may be refunded.
    func acquisition(by customer: String, app bundleID: String?) throws(AppStoreStateError) -> AppStoreAcquisition {
        let app = try appIndex(bundleID)
        guard let acquisition = acquisition(of: try accountIndex(customer), app: app) else {
            throw .hasNoApp(customer: customer, app: apps[app].bundleID)
        }
        return acquisition
    }

    // MARK: In-app purchases

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
        _ = try acquisition(by: customer, app: apps[app].bundleID)
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
        return subscribe(product, account: account, former: former, offer: offer, appAccountToken: appAccountToken)
    }

    /// Returns the offer for a purchase: the named offer, or the introductory offer for a customer who never had a
    /// subscription of the group (`former` is nil).
    private func offer(
        _ name: String?, of product: Int, customer: String, former: Subscription?
    ) throws(AppStoreStateError) -> SubscriptionOffer? {
        guard let name else { return former == nil ? products[product].introductoryOffer : nil }
        let offer = try offer(named: name, of: product)
        // Promotional offers and win-back offers are for earlier subscribers.
        if former == nil, offer.type == .promotional || offer.type == .winBack {
            throw .notEligible(customer: customer, offer: name)
        }
        return offer
    }

    /// Returns the offer of a product with this ID.
    func offer(named name: String, of product: Int) throws(AppStoreStateError) -> SubscriptionOffer {
        guard let offer = products[product].offers.first(where: { $0.id == name }) else {
            throw .noOffer(product: products[product].id, offer: name)
        }
        return offer
    }

    /// Begins a new subscription, or begins the former subscription again.
    private mutating func subscribe(
        _ product: Int, account: Int, former: Subscription?, offer: SubscriptionOffer?, appAccountToken: UUID?
    ) -> AppStoreTransaction {
        let transaction = addTransaction(
            product, account: account, original: former?.originalTransaction, offer: offer, periodStart: now,
            appAccountToken: appAccountToken ?? former.flatMap { transactions[$0.currentTransaction].appAccountToken })
        let index = if let former { former.index } else { addSubscription(transaction) }
        if let former {
            // Gaps of up to 60 days don't interrupt a subscription.
            let ended = transactions[former.currentTransaction].expiresDate ?? .distantPast
            if now.timeIntervalSince(ended) > 60 * 86_400 { subscriptions[index].streakBegan = now }
        }
        subscriptions[index].autoRenews = true
        subscriptions[index].renewals = 0
        beginPeriod(of: index, transaction, furtherPayments: offer?.furtherPayments ?? 0, of: offer)
        notify(.subscribed, former == nil ? .initialBuy : .resubscribe, about: index)
        if subscriptions[index].isShared { shareSubscription(index) }
        return transactions[transaction.index]
    }

    /// Adds a subscription that begins with this transaction, and returns its index.
    ///
    /// - Parameter purchaser: the index of the purchaser's subscription, for a family member. Nil if the account pays.
    mutating func addSubscription(_ transaction: AppStoreTransaction, sharedFrom purchaser: Int? = nil) -> Int {
        let index = subscriptions.count
        subscriptions.append(
            Subscription(
                index: index, account: transaction.account, app: transaction.app,
                group: products[transaction.product].group ?? "", originalTransaction: transaction.index,
                currentTransaction: transaction.index, product: transaction.product, renewsAs: transaction.product,
                renewalPrice: 0, streakBegan: now, sharedFrom: purchaser))
        accounts[transaction.account].subscriptions.append(index)
        return index
    }

    /// Adds a transaction to the account's history.
    ///
    /// - Parameters:
    ///   - original: the index of the first transaction. Nil if this transaction is the first.
    ///   - periodStart: the beginning of a subscription's period. Nil for other products.
    ///   - price: the price of one unit in milliunits, if there is no offer. Nil for the product's price.
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
        var end = expiresDate
        if end == nil, let periodStart, let length { end = self.end(of: length, from: periodStart) }
        revision += 1
        let unitPrice = offer?.price ?? price ?? products[product].price(in: storefront)
        let transaction = AppStoreTransaction(
            index: index, originalTransaction: original ?? index, account: account, app: app(ofProduct: product),
            product: product, purchaseDate: periodStart ?? now,
            originalPurchaseDate: original.map { transactions[$0].purchaseDate } ?? periodStart ?? now,
            expiresDate: end, quantity: quantity, reason: reason, offer: offer, storefront: storefront,
            price: unitPrice * quantity, appAccountToken: appAccountToken, sharedFrom: sharedFrom, revision: revision,
            modifiedAt: now)
        transactions.append(transaction)
        accounts[account].transactions.append(index)
        return transaction
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
