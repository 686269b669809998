package import Foundation
import TenureAppStore
package import TenureCore

/// The state of a local App Store: its apps and products, its customers with their purchases, and its clock.
///
/// The state is a value that changes only by operations. Lists refer to each other by index: an `Int` named `account`,
/// `app`, `product`, `transaction` or `subscription` is the index in that list. The same seed and operations give the
/// same state, with the same IDs and the same fields to sign.
package struct AppStoreState: Sendable {
    /// The text from which all IDs are made.
    package let seed: String
    package let environment: AppStoreEnvironment
    /// The time of the local App Store's clock, in whole milliseconds like the App Store's dates. Only `setClock`
    /// changes it.
    package private(set) var now: Date
    package internal(set) var apps: [AppStoreApp] = []
    package internal(set) var products: [AppStoreProduct] = []
    package internal(set) var accounts: [AppStoreAccount] = []
    package internal(set) var acquisitions: [AppStoreAcquisition] = []
    package internal(set) var transactions: [AppStoreTransaction] = []
    var subscriptions: [Subscription] = []
    package internal(set) var notifications: [AppStoreNotification] = []
    /// The indexes of the notifications to deliver now.
    var outbox: [Int] = []
    /// The consumption that developers reported, by index of the transaction.
    var consumption: [Int: ConsumptionAnswer] = [:]
    /// The results of the requests to extend the renewal dates of all subscribers of a product.
    var massExtensions: [ExtensionSummary] = []
    /// Whether notifications arrive.
    var network = Network.up

    let sandboxPeriods: SandboxPeriods
    let ids: AppStoreIDs
    var scheduledEvents = ScheduledEvents()
    /// The number of changes of transactions so far. New transactions count as changes.
    var revision = 0
    /// For each original transaction, the date of its last notification, and the `rank` of that notification: the
    /// number of earlier notifications about this purchase at the same instant.
    private var lastNotified: [Int: (date: Date, rank: Int)] = [:]
    // The indexes of accounts by name, and of products by ID.
    private var accountIndexes: [String: Int] = [:]
    private var productIndexes: [String: Int] = [:]
    /// The index of each product's app.
    private var appOfProduct: [Int] = []
    /// The indexes of each family's accounts, by the family's name.
    private(set) var families: [String: [Int]] = [:]
    /// The indexes of the transactions that purchasers share with their families, except those of subscriptions.
    var sharedPurchases: Set<Int> = []

    package init(
        seed: String, environment: AppStoreEnvironment = .production, startingAt now: Date, apps: [AppStoreApp] = [],
        sandboxPeriods: SandboxPeriods = SandboxPeriods()
    ) {
        self.seed = seed
        self.environment = environment
        self.sandboxPeriods = sandboxPeriods
        self.now = now.roundedToMilliseconds
        ids = AppStoreIDs(seed: seed, environment: environment)
        for app in apps { add(app) }
    }

    /// Sets the clock, which never goes back.
    mutating func setClock(to instant: Date) { now = max(now, instant.roundedToMilliseconds) }

    // MARK: Catalog

    /// Adds an app with its products. A product ID that another app has already is ignored.
    mutating func add(_ app: AppStoreApp) {
        let index = apps.count
        for product in app.products where productIndexes[product.id] == nil {
            productIndexes[product.id] = products.count
            products.append(product)
            appOfProduct.append(index)
        }
        apps.append(app)
    }

    /// Adds a release of an app.
    ///
    /// - Parameter bundleID: the app. Nil for the only app.
    mutating func release(_ release: AppStoreRelease, of bundleID: String?) throws(AppStoreStateError) {
        let app = try appIndex(bundleID)
        apps[app].releases.append(release)
        apps[app].releases.sort { $0.releasedAt < $1.releasedAt }
    }

    /// Adds a price of an app.
    ///
    /// - Parameter bundleID: the app. Nil for the only app.
    mutating func setPrice(_ price: AppPrice, of bundleID: String?) throws(AppStoreStateError) {
        let app = try appIndex(bundleID)
        apps[app].prices.append(price)
        apps[app].prices.sort { $0.from < $1.from }
    }

    /// Puts a product on sale, or removes it. A product that isn't on sale can't be bought and doesn't renew.
    mutating func setOnSale(_ isOnSale: Bool, product id: String) throws(AppStoreStateError) {
        products[try productIndex(id)].isOnSale = isOnSale
    }

    /// Sets the URL to which notifications of an app are posted. Without a URL, they aren't posted.
    ///
    /// - Parameter bundleID: the app. Nil for the only app.
    mutating func setNotificationURL(_ url: String?, of bundleID: String?) throws(AppStoreStateError) {
        apps[try appIndex(bundleID)].notificationURL = url
    }

    // MARK: Customers

    /// Creates an Apple Account, with 1 to 10 devices.
    package mutating func addCustomer(
        _ name: String, storefront code: String = "USA", family: String? = nil, devices: Int = 1
    ) throws(AppStoreStateError) {
        guard accountIndexes[name] == nil else { throw .customerExists(name) }
        guard let storefront = Storefront(code: code) else { throw .noStorefront(code) }
        let index = accounts.count
        let devices = (0..<max(1, min(devices, 10))).map { ids.uuid("device \($0) of account \(index)") }
        accounts.append(AppStoreAccount(name: name, storefront: storefront, family: family, devices: devices))
        accountIndexes[name] = index
        if let family { families[family, default: []].append(index) }
    }

    /// Moves a customer to another storefront. Later purchases have its currency and prices.
    mutating func move(_ customer: String, to code: String) throws(AppStoreStateError) {
        let account = try accountIndex(customer)
        guard let storefront = Storefront(code: code) else { throw .noStorefront(code) }
        accounts[account].storefront = storefront
    }

    mutating func setBillingWorks(_ works: Bool, of customer: String) throws(AppStoreStateError) {
        accounts[try accountIndex(customer)].billingWorks = works
    }

    mutating func removeFromFamily(_ account: Int) {
        guard let family = accounts[account].family else { return }
        families[family]?.removeAll { $0 == account }
        accounts[account].family = nil
    }

    // MARK: Looking up

    package func accountIndex(_ name: String) throws(AppStoreStateError) -> Int {
        guard let index = accountIndexes[name] else { throw .noCustomer(name) }
        return index
    }

    func productIndex(_ id: String) throws(AppStoreStateError) -> Int {
        guard let index = productIndexes[id] else { throw .noProduct(id) }
        return index
    }

    /// Returns the index of the app with this bundle ID; if the bundle ID is nil, of the only app.
    func appIndex(_ bundleID: String?) throws(AppStoreStateError) -> Int {
        guard let bundleID else {
            guard apps.count == 1 else { throw .whichApp }
            return 0
        }
        guard let index = apps.firstIndex(where: { $0.bundleID == bundleID }) else { throw .noApp(bundleID) }
        return index
    }

    /// Returns the index of a product's app.
    func app(ofProduct index: Int) -> Int { appOfProduct[index] }

    /// Returns the account's acquisition of an app, which may be refunded; nil if the account never got the app.
    package func acquisition(of account: Int, app: Int) -> AppStoreAcquisition? {
        accounts[account].acquisitions.lazy.map { acquisitions[$0] }.first { $0.app == app }
    }

    /// Finds a transaction by its `transactionId`; nil if no such ID was assigned.
    func transaction(_ id: some StringProtocol) -> AppStoreTransaction? {
        ids.transactionIndex(id).flatMap { transactions.indices.contains($0) ? transactions[$0] : nil }
    }

    /// Finds an acquisition by its `appTransactionId`; nil if no such ID was assigned.
    func acquisition(_ id: some StringProtocol) -> AppStoreAcquisition? {
        ids.appTransactionIndex(id).flatMap { acquisitions.indices.contains($0) ? acquisitions[$0] : nil }
    }

    /// Finds a transaction by the order ID in the purchaser's e-mail; nil if no such ID was assigned. A family member's
    /// share has no order ID.
    func transaction(order id: String) -> AppStoreTransaction? {
        guard let index = ids.transactionIndex(order: id), transactions.indices.contains(index),
            !transactions[index].isFamilyShared
        else { return nil }
        return transactions[index]
    }

    package func id(of transaction: AppStoreTransaction) -> String { ids.transaction(transaction.index) }
    package func orderID(of transaction: AppStoreTransaction) -> String { ids.order(transaction.index) }
    package func id(of acquisition: AppStoreAcquisition) -> String { ids.appTransaction(acquisition.index) }

    /// The ID of a subscription group: a number, as App Store Connect makes it. If the group's name is a number, this
    /// number is the ID, so that an app can use its real ID. Empty for a group without products.
    func groupID(_ name: String, of app: Int) -> String {
        if name.hasOnlyDigits { return name }
        let first = products.indices.first { self.app(ofProduct: $0) == app && products[$0].group == name }
        return first.map(ids.group) ?? ""
    }

    /// The ID of a product's subscription group; nil if the product isn't a subscription.
    func groupID(ofProduct index: Int) -> String? {
        products[index].group.map { groupID($0, of: app(ofProduct: index)) }
    }

    /// Returns the subscription that a transaction pays for; nil for other purchases.
    func subscription(of transaction: AppStoreTransaction) -> Subscription? {
        accounts[transaction.account].subscriptions.lazy.map { subscriptions[$0] }
            .first { $0.originalTransaction == transaction.originalTransaction }
    }

    // MARK: Notifications

    /// Adds a notification. If the app has a URL for notifications, the notification is delivered next.
    mutating func notify(
        _ type: NotificationType, _ subtype: NotificationSubtype? = nil, app: Int,
        about subject: AppStoreNotification.Subject
    ) {
        let index = notifications.count
        var rank = 0
        if case .transaction(let transaction, _, _) = subject {
            if let last = lastNotified[transaction.originalTransaction], last.date == now { rank = last.rank + 1 }
            lastNotified[transaction.originalTransaction] = (now, rank)
        }
        notifications.append(
            AppStoreNotification(
                index: index, uuid: ids.uuid("notification \(index)"), type: type, subtype: subtype, date: now,
                rank: rank, app: app, subject: subject))
        if apps[app].notificationURL != nil { outbox.append(index) }
    }

    /// Adds a notification about a subscription in its current state, with its current transaction.
    mutating func notify(_ type: NotificationType, _ subtype: NotificationSubtype? = nil, about index: Int) {
        let subscription = subscriptions[index]
        let transaction = transactions[subscription.currentTransaction]
        notify(type, subtype, app: subscription.app, about: .transaction(transaction, subscription, nil))
    }

    /// Changes a transaction. The transaction moves to the end of the history, which is ordered by the last change.
    mutating func change(_ transaction: Int, _ body: (inout AppStoreTransaction) -> Void) {
        revision += 1
        body(&transactions[transaction])
        transactions[transaction].revision = revision
        transactions[transaction].modifiedAt = now
    }
}

/// What a developer reported about a purchase for which the customer wants a refund.
struct ConsumptionAnswer: Sendable, Hashable {
    let date: Date
    /// Apple's name for the status, such as `DELIVERED`; in version 1 of the request, its number.
    let deliveryStatus: String
    /// Apple's name for the refund that the developer prefers; nil if the developer named none.
    let refundPreference: String?
}

extension Date {
    fileprivate var roundedToMilliseconds: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000)
    }
}
