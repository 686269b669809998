import Foundation
import TenureCore
import TenureJSON

/// Everything that a device knows about its customer, as the App Store last reported it.
struct DeviceContents: Sendable {
    /// The number of changes in the local App Store when it reported these contents.
    let change: Int
    /// The local App Store's time when it reported these contents.
    let now: Date
    /// The customer's name in the local App Store.
    let customer: String
    let bundleID: String
    /// The app's Apple ID. Nil if the local App Store has none for the app.
    let appAppleID: Int64?
    /// Whether the local App Store simulates the sandbox instead of production.
    let isSandbox: Bool
    let storefront: Storefront?
    /// The version of the installed app; nil if the customer never got the app.
    let appVersion: String?
    /// The customer's transactions, the newest first.
    var transactions: [ReceivedTransaction]
    var subscriptions: [ReceivedSubscription]

    init?(_ json: JSONObject) {
        guard let change = json.integer("change"), let now = json.text("now").flatMap({ Date(rfc3339: $0) }),
            let customer = json.text("customer"), let bundleID = json.text("bundleID")
        else { return nil }
        self.change = change
        self.now = now
        self.customer = customer
        self.bundleID = bundleID
        appAppleID = json.number("appAppleID").flatMap { Int64($0) }
        isSandbox = json.text("environment") == "Sandbox"
        storefront = Storefront(json.object("storefront"))
        appVersion = json.text("appVersion")
        transactions = json.objects("transactions").compactMap(ReceivedTransaction.init)
            .sorted { ($0.value.purchaseDate, $0.value.id) > ($1.value.purchaseDate, $1.value.id) }
        subscriptions = json.objects("subscriptions").compactMap(ReceivedSubscription.init)
    }

    /// Keeps the old signed copy of each transaction and subscription that the App Store only signed again, with the
    /// same content. Devices do the same.
    mutating func keepCopies(of old: DeviceContents?) {
        guard let old, old.customer == customer else { return }
        let transactionCopies = Dictionary(old.transactions.map { ($0.value.id, $0.value) }) { first, _ in first }
        for index in transactions.indices {
            let value = transactions[index].value
            if let copy = transactionCopies[value.id], copy.signedText.contents == value.signedText.contents {
                transactions[index].value = copy
            }
        }
        for index in subscriptions.indices {
            let new = subscriptions[index]
            let copy = old.subscriptions.first { $0.transaction.originalID == new.transaction.originalID }
            if let copy, copy.state == new.state, copy.contents == new.contents { subscriptions[index] = copy }
        }
    }

    /// Returns the transactions that `selection` requests, the newest first.
    ///
    /// - Parameter withAllConsumables: whether the history includes consumables that the app has finished.
    func selected(_ selection: TransactionSelection, at now: Date, withAllConsumables: Bool) -> [Transaction] {
        switch selection {
        case .all: history(withAllConsumables: withAllConsumables)
        case .allOf(let product): history(withAllConsumables: withAllConsumables).filter { $0.productID == product }
        case .entitlements: entitlements(at: now)
        case .entitlementsTo(let product): entitlements(at: now).filter { $0.productID == product }
        case .unfinished: transactions.filter { !$0.isFinished }.map(\.value)
        }
    }

    /// Returns all transactions. If `withAllConsumables` is false, leaves out finished consumables, except refunded
    /// ones.
    private func history(withAllConsumables: Bool) -> [Transaction] {
        transactions.filter {
            withAllConsumables || !$0.isFinished || $0.value.productType != .consumable
                || $0.value.revocationDate != nil
        }.map(\.value)
    }

    /// Returns one transaction for each product, by Apple's rules for `currentEntitlements`: the customer's own
    /// transaction before the family's, and a newer before an older transaction.
    private func entitlements(at now: Date) -> [Transaction] {
        // `transactions` has the newest first, so only an own transaction replaces an earlier result.
        var result: [Transaction] = []
        for transaction in transactions.map(\.value) where entitles(transaction, at: now) {
            if let index = result.firstIndex(where: { $0.productID == transaction.productID }) {
                if result[index].ownershipType == .familyShared, transaction.ownershipType == .purchased {
                    result[index] = transaction
                }
            } else {
                result.append(transaction)
            }
        }
        return result
    }

    /// Whether a transaction entitles the customer at this time: it isn't refunded, replaced or expired, and isn't of a
    /// consumable.
    private func entitles(_ transaction: Transaction, at now: Date) -> Bool {
        guard !transaction.isUpgraded, transaction.revocationDate == nil else { return false }
        switch transaction.productType {
        case .nonConsumable, .nonRenewable: return true
        case .autoRenewable:
            if let end = transaction.expirationDate, now < end { return true }
            // A grace period belongs to the latest period of the subscription.
            return subscriptions.contains { $0.transaction.id == transaction.id && $0.state(at: now) == .inGracePeriod }
        default: return false
        }
    }
}

/// One transaction in a report of the App Store, not yet verified.
struct ReceivedTransaction: Sendable {
    var value: Transaction
    /// Whether the app has finished the transaction, according to the App Store or on this device.
    var isFinished: Bool

    init?(_ json: JSONObject) {
        guard let value = json.signedText("jws").flatMap(Transaction.init) else { return nil }
        self.value = value
        isFinished = json.flag("isFinished") ?? false
    }
}

/// One subscription in a report of the App Store, not yet verified.
struct ReceivedSubscription: Sendable {
    /// The ID of the subscription group.
    let group: String
    /// The state when the App Store reported it. `state(at:)` returns the state at a later time.
    let state: Product.SubscriptionInfo.RenewalState
    /// Whether another member of the family bought the subscription.
    let isFamilyShared: Bool
    /// The latest transaction of the subscription.
    let transaction: Transaction
    let renewalInfo: Product.SubscriptionInfo.RenewalInfo

    init?(_ json: JSONObject) {
        guard let group = json.text("group"), let state = json.integer("status"),
            let transaction = json.signedText("transaction").flatMap(Transaction.init),
            let renewalInfo = json.signedText("renewalInfo").flatMap(Product.SubscriptionInfo.RenewalInfo.init)
        else { return nil }
        self.group = group
        self.state = Product.SubscriptionInfo.RenewalState(rawValue: state)
        isFamilyShared = json.flag("isFamilyShared") ?? false
        self.transaction = transaction
        self.renewalInfo = renewalInfo
    }

    /// Returns the subscription's state at an instant, which may be later than the last contact with the App Store.
    func state(at now: Date) -> Product.SubscriptionInfo.RenewalState {
        switch state {
        case .subscribed where (transaction.expirationDate ?? now) <= now: .expired
        case .inGracePeriod where (renewalInfo.gracePeriodExpirationDate ?? now) <= now: .inBillingRetryPeriod
        default: state
        }
    }

    /// The payloads without the fields that differ each time the same content is signed.
    var contents: [JSONObject] { [transaction.signedText.contents, renewalInfo.signedText.contents] }
}

extension SignedText {
    /// The payload without the fields that differ each time the same content is signed.
    var contents: JSONObject {
        var payload = payload
        for name in ["signedDate", "deviceVerification", "deviceVerificationNonce"] { payload[name] = nil }
        return payload
    }
}
