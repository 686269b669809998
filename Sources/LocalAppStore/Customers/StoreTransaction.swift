package import Foundation
package import TenureAppStore

/// One payment for an in-app purchase, or one family member's share in it.
package struct StoreTransaction: Sendable, Hashable {
    package let index: Int
    /// The first transaction of the subscription; for other purchases the transaction itself.
    package let original: Int
    package let account: Int
    package let app: Int
    /// The index of the product.
    package let product: Int
    package let purchaseDate: Date
    package let originalPurchaseDate: Date
    package var expiresDate: Date?
    package let quantity: Int64
    package let reason: TransactionReason
    package let offer: SubscriptionOffer?
    package let storefront: Storefront
    /// Milliunits.
    package let price: Int64
    package var appAccountToken: UUID?
    package var revocation: Revocation?
    package var isUpgraded = false
    package var isFinished = false
    /// For a family member's transaction, the purchaser's one.
    package let sharedFrom: Int?
    /// Grows with every change of any transaction. It orders the history.
    package var revision: Int
    package var modifiedAt: Date

    package struct Revocation: Sendable, Hashable {
        package let date: Date
        package let reason: RevocationReason
        package let type: RevocationType
        /// In thousandths of a percent.
        package let percentage: Int64?
    }

    package var isFamilyShared: Bool { sharedFrom != nil }
}
