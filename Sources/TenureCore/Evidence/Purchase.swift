public import Foundation

/// What one verified transaction (or in-app purchase of a receipt) proves, with what the renewal info of its
/// subscription adds.
public struct Purchase: Sendable, Hashable {
    public enum ProductType: Sendable, Hashable {
        case nonConsumable, consumable, nonRenewing, autoRenewable
        /// A type that the artifact names and nobody knows.
        case unknown(String)
    }

    public let transactionID: String
    public let originalTransactionID: String
    public let productID: String
    /// Equal product ids have equal ones: most are told apart by it alone.
    let productFingerprint: Int
    /// Nil where an old receipt does not say.
    public let type: ProductType?
    public let purchaseDate: Date?
    public let expiresDate: Date?
    /// When this transaction was refunded, or revoked from the family.
    public package(set) var revocationDate: Date?
    /// Replaced by an upgrade: it no longer grants.
    public package(set) var isUpgraded: Bool
    public let isFamilyShared: Bool
    public let signedDate: Date?

    /// From the renewal info of the subscription, and only on its latest transaction.
    public package(set) var gracePeriodExpiresDate: Date?
    public package(set) var isInBillingRetryPeriod = false

    package init(
        transactionID: String,
        originalTransactionID: String? = nil,
        productID: String,
        type: ProductType?,
        purchaseDate: Date?,
        expiresDate: Date? = nil,
        revocationDate: Date? = nil,
        isUpgraded: Bool = false,
        isFamilyShared: Bool = false,
        signedDate: Date?
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

/// What one verified renewal info says of a subscription. It counts only beside a verified transaction of the same
/// `originalTransactionID`: renewal info names no app.
public struct Renewal: Sendable, Hashable {
    public let originalTransactionID: String
    public let productID: String?
    public let gracePeriodExpiresDate: Date?
    public let isInBillingRetryPeriod: Bool
    public let signedDate: Date?

    package init(
        originalTransactionID: String,
        productID: String?,
        gracePeriodExpiresDate: Date?,
        isInBillingRetryPeriod: Bool,
        signedDate: Date?
    ) {
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.gracePeriodExpiresDate = gracePeriodExpiresDate
        self.isInBillingRetryPeriod = isInBillingRetryPeriod
        self.signedDate = signedDate
    }
}
