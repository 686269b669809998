public import Foundation

/// The facts that one verified transaction, or one in-app purchase in a receipt, proves. The facts include the renewal
/// info of the purchase's subscription.
public struct Purchase: Sendable, Hashable {
    /// The type in App Store Connect, which decides how long a purchase grants its entitlements (rule F1 of
    /// Docs/decision-rules.md).
    public enum ProductType: Sendable, Hashable {
        /// Grants permanently.
        case nonConsumable
        /// Grants nothing.
        case consumable
        /// Grants for the length in the policy. If the policy has no length, the result is undetermined (`noLength`).
        case nonRenewing
        /// Grants until the end of its period, or of its grace period.
        case autoRenewable
        /// Another type, with its name in the artifact.
        case unknown(String)
    }

    /// The ID of the transaction, unique in its environment. Artifacts with the same ID describe the same purchase.
    public let transactionID: String
    /// The ID of the first purchase; the same for all periods of a subscription.
    public let originalTransactionID: String
    /// The product ID in App Store Connect.
    public let productID: String
    /// A hash of the product ID. Comparing it first is faster than comparing the IDs.
    let productFingerprint: Int
    /// The type of the product. Nil in old receipts, which don't contain it.
    public let type: ProductType?
    /// When the product was bought, restored or renewed. Nil if the artifact doesn't contain it.
    public let purchaseDate: Date?
    /// When the period of a subscription ends; nil for other types.
    public let expiresDate: Date?
    /// When this transaction was refunded, or revoked from Family Sharing. Nil if neither happened.
    public package(set) var revocationDate: Date?
    /// Whether the customer upgraded to another subscription. If so, this subscription grants nothing.
    public package(set) var isUpgraded: Bool
    /// Whether a family member bought the product and shares it.
    public let isFamilyShared: Bool
    /// When the App Store signed the artifact. Of several artifacts with the same ID, the latest-signed artifact is
    /// used.
    public let signedDate: Date?

    /// When the billing grace period ends, from the renewal info. Nil if there is no grace period, and for all but the
    /// subscription's latest transaction.
    public package(set) var gracePeriodExpiresDate: Date?
    /// Whether Apple still tries to charge for an expired subscription.
    public package(set) var isInBillingRetryPeriod = false

    package init(
        transactionID: String, originalTransactionID: String? = nil, productID: String, type: ProductType?,
        purchaseDate: Date?, expiresDate: Date? = nil, revocationDate: Date? = nil, isUpgraded: Bool = false,
        isFamilyShared: Bool = false, signedDate: Date?
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID ?? transactionID
        self.productID = productID
        productFingerprint = productID.hashValue
        self.type = type
        self.purchaseDate = purchaseDate
        self.expiresDate = expiresDate
        self.revocationDate = revocationDate
        self.isUpgraded = isUpgraded
        self.isFamilyShared = isFamilyShared
        self.signedDate = signedDate
    }

    /// Whether a refund at this date may be about this purchase: the purchase must not have been made or restored after
    /// the refund. False for a subscription without an end, because its period is unknown.
    fileprivate func isRefunded(with refund: Date) -> Bool {
        revocationDate == nil && (purchaseDate ?? .distantPast) <= refund
            && (type != .autoRenewable || expiresDate != nil)
    }

    /// Whether this state of the transaction replaces the other state. The later-signed state replaces the other. Of
    /// two states signed at the same time, the state that grants less is used. If neither grants less, the content
    /// decides, so that the order in which states are received doesn't matter.
    ///
    /// `isUpgraded` isn't compared, because `joined` may have copied it from another state. If it were compared, the
    /// result would depend on the order in which states are joined.
    fileprivate func supersedes(_ other: Purchase) -> Bool {
        let mine = (signedDate ?? .distantPast, revocationDate == nil ? 0 : 1)
        let others = (other.signedDate ?? .distantPast, other.revocationDate == nil ? 0 : 1)
        if mine != others { return mine > others }
        let (end, otherEnd) = (expiresDate ?? .distantFuture, other.expiresDate ?? .distantFuture)
        return end != otherEnd ? end < otherEnd : canonicalText < other.canonicalText
    }

    /// Joins two states of one transaction. The later-signed state is used. But `isUpgraded` is kept from either state,
    /// because receipts don't have this field.
    package func joined(with other: Purchase) -> Purchase {
        var result = supersedes(other) ? self : other
        result.isUpgraded = isUpgraded || other.isUpgraded
        return result
    }

    /// The facts in the artifact itself, except the transaction ID and `isUpgraded`, as one string.
    private var canonicalText: String {
        let dates = [purchaseDate, expiresDate, revocationDate, signedDate].map {
            $0.map { "\($0.timeIntervalSince1970)" } ?? ""
        }
        let texts = [originalTransactionID, productID, type.map { "\($0)" } ?? "", isFamilyShared ? "f" : ""]
        return (texts + dates).joined(separator: "\u{0}")
    }

    /// Whether the purchase is a subscription, or may be a subscription: old receipts don't contain the type.
    var isSubscription: Bool {
        switch type {
        case .autoRenewable: true
        case .nonConsumable, .consumable, .nonRenewing: false
        case .unknown, nil: expiresDate != nil
        }
    }
}

/// The content of one verified renewal info. Renewal info is used only together with a verified transaction with the
/// same `originalTransactionID`, because renewal info doesn't contain the app's bundle ID.
public struct Renewal: Sendable, Hashable {
    /// The ID of the first purchase; the same for all periods of a subscription.
    public let originalTransactionID: String
    /// The product that the subscription renews as. Nil if the artifact contains no such product.
    public let productID: String?
    /// When the billing grace period ends. Nil if there is no grace period.
    public let gracePeriodExpiresDate: Date?
    /// Whether Apple still tries to charge for an expired subscription.
    public let isInBillingRetryPeriod: Bool
    /// When the App Store signed the artifact. Of several artifacts about the same subscription, the latest-signed
    /// artifact is used.
    public let signedDate: Date?

    package init(
        originalTransactionID: String, productID: String?, gracePeriodExpiresDate: Date?, isInBillingRetryPeriod: Bool,
        signedDate: Date?
    ) {
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.gracePeriodExpiresDate = gracePeriodExpiresDate
        self.isInBillingRetryPeriod = isInBillingRetryPeriod
        self.signedDate = signedDate
    }

    /// Whether this renewal info replaces the other. The later-signed renewal info is used. If both were signed at the
    /// same time, the renewal info that grants less is used.
    package func supersedes(_ other: Renewal) -> Bool {
        let (signed, otherSigned) = (signedDate ?? .distantPast, other.signedDate ?? .distantPast)
        if signed != otherSigned { return signed > otherSigned }
        let graceEnd = gracePeriodExpiresDate ?? .distantPast
        let otherGraceEnd = other.gracePeriodExpiresDate ?? .distantPast
        if graceEnd != otherGraceEnd { return graceEnd < otherGraceEnd }
        if isInBillingRetryPeriod != other.isInBillingRetryPeriod { return isInBillingRetryPeriod }
        return (productID ?? "") < (other.productID ?? "")
    }
}

/// Returns the latest-signed state of each transaction, the oldest purchase first. The App Store may sign a transaction
/// again when its state changes, for example after a refund. The current period of a subscription gets its renewal
/// info.
func purchases(from transactions: [Purchase], renewals: [Renewal]) -> [Purchase] {
    var result = transactions
    if transactions.count > 1 {
        let latest = Dictionary(
            transactions.lazy.map { ($0.transactionID, $0) }, uniquingKeysWith: { $1.joined(with: $0) })
        result = latest.values.sorted {
            ($0.purchaseDate ?? .distantPast, $0.transactionID) < ($1.purchaseDate ?? .distantPast, $1.transactionID)
        }
        markUpgraded(in: &result)
        endRefundedCopies(in: &result)
    }
    guard !renewals.isEmpty else { return result }

    let renewalOf = Dictionary(
        renewals.lazy.map { ($0.originalTransactionID, $0) }, uniquingKeysWith: { $1.supersedes($0) ? $1 : $0 })
    // The transactions of each subscription, sorted by date.
    var periods: [String: [Int]] = [:]
    for (index, purchase) in result.enumerated() where renewalOf[purchase.originalTransactionID] != nil {
        periods[purchase.originalTransactionID, default: []].append(index)
    }
    for renewal in renewalOf.values {
        // Renewal info is only about the current period, not about earlier or upgraded periods.
        let periods = periods[renewal.originalTransactionID] ?? []
        let matching = periods.filter {
            result[$0].expiresDate != nil && (renewal.productID == nil || renewal.productID == result[$0].productID)
        }
        guard let current = matching.last(where: { !result[$0].isUpgraded }) else { continue }
        // A later period that was upgraded shows that the renewal succeeded, so the grace period is over.
        if let last = matching.last, last != current, let end = result[current].expiresDate,
            let beginning = result[last].purchaseDate, beginning >= end
        {
            continue
        }
        // If a period of another product has begun since, the renewal info is outdated.
        if let last = periods.last, last != current, let signedDate = renewal.signedDate,
            let beginning = result[last].purchaseDate, signedDate < beginning
        {
            continue
        }
        result[current].gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
        result[current].isInBillingRetryPeriod = renewal.isInBillingRetryPeriod
    }
    return result
}

/// Marks upgraded subscriptions.
///
/// After an upgrade, often only the new product's transaction is received. The old product's transaction isn't received
/// again with `isUpgraded`. But a subscription has only one period at a time. So a period was replaced if a period of
/// another product begins during it.
///
/// - Parameter purchases: sorted by date.
private func markUpgraded(in purchases: inout [Purchase]) {
    guard purchases.count > 1 else { return }
    let subscriptions = Dictionary(
        grouping: purchases.indices.filter { purchases[$0].type == .autoRenewable && purchases[$0].purchaseDate != nil }
    ) { purchases[$0].originalTransactionID }
    for periods in subscriptions.values where periods.count > 1 {
        // The first period that begins later than the current period. Periods can begin at the same time.
        var firstLater: Int?
        // For each period, the first later period with another product.
        var nextOfAnotherProduct = [Int?](repeating: nil, count: periods.count)
        // Iterate backward, so that the time grows only linearly with the number of periods.
        for index in periods.indices.dropLast().reversed() {
            let (old, next) = (purchases[periods[index]], purchases[periods[index + 1]])
            nextOfAnotherProduct[index] = next.productID == old.productID ? nextOfAnotherProduct[index + 1] : index + 1
            if next.purchaseDate != old.purchaseDate { firstLater = index + 1 }
            guard let later = firstLater, !old.isUpgraded, let end = old.expiresDate else { continue }
            let hasAnotherProduct = purchases[periods[later]].productID != old.productID
            guard let new = hasAnotherProduct ? later : nextOfAnotherProduct[later],
                let beginning = purchases[periods[new]].purchaseDate
            else { continue }
            purchases[periods[index]].isUpgraded = beginning < end
        }
    }
}

/// Applies a refund to all copies of a purchase. An old receipt lists a restored purchase twice: as the original, and
/// with another transaction ID. Each period of a subscription is a separate purchase.
///
/// The latest state of any copy decides. So a refund that was reversed, or was followed by a new purchase, ends no
/// copy.
private func endRefundedCopies(in purchases: inout [Purchase]) {
    guard purchases.contains(where: { $0.revocationDate != nil }) else { return }
    let copies = Dictionary(grouping: purchases.indices) { CopyKey(of: purchases[$0]) }
    for indices in copies.values where indices.count > 1 {
        let latest = indices.map { purchases[$0] }.max { $1.supersedes($0) }
        guard let refund = latest?.revocationDate else { continue }
        for index in indices where purchases[index].isRefunded(with: refund) {
            purchases[index].revocationDate = refund
        }
    }
}

/// What the copies of one purchase have in common. Their transaction IDs differ.
private struct CopyKey: Hashable {
    let originalTransactionID: String
    let productID: String
    /// When the purchase ends, in whole seconds, because dates in receipts have no fractions.
    let secondOfEnd: TimeInterval?

    init(of purchase: Purchase) {
        originalTransactionID = purchase.originalTransactionID
        productID = purchase.productID
        secondOfEnd = purchase.expiresDate?.timeIntervalSince1970.rounded(.down)
    }
}
