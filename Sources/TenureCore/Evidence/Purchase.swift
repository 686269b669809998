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
    func isRefunded(with refund: Date) -> Bool {
        revocationDate == nil && (purchaseDate ?? .distantPast) <= refund
            && (type != .autoRenewable || expiresDate != nil)
    }

    /// Whether this state of the transaction replaces the other state. The later-signed state replaces the other. Of
    /// two states signed at the same time, the state that grants less is used. If neither grants less, the content
    /// decides, so that the order in which states are received doesn't matter.
    ///
    /// `isUpgraded` isn't compared, because `joined` may have copied it from another state. If it were compared, the
    /// result would depend on the order in which states are joined.
    func supersedes(_ other: Purchase) -> Bool {
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
