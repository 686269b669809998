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
}
