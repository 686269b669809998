package import Foundation
package import TenureAppStore

/// One payment for an in-app purchase, or one family member's share in it.
package struct StoreTransaction: Sendable, Hashable {
    package let index: Int
    /// The first transaction of the subscription; itself for what is bought once.
    package let original: Int
    package let account: Int
    package let app: Int
    /// The place of the product among the world's.
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
    /// The purchaser's transaction, in a family member's.
    package let sharedFrom: Int?
    /// Grows with every change of any transaction: the order of the history.
    package var revision: Int
    package var modifiedAt: Date

    package struct Revocation: Sendable, Hashable {
        package let date: Date
        package let reason: RevocationReason
        package let type: RevocationType
        /// Thousandths of a per cent.
        package let percentage: Int64?
    }

    package var isFamilyShared: Bool { sharedFrom != nil }
}
