import Foundation
import TenureAppStore

/// One payment for an in-app purchase, or one family member's share in it.
package struct AppStoreTransaction: Sendable, Hashable {
    /// The index in `AppStoreState.transactions`.
    package let index: Int
    /// The index of the first transaction of the subscription; for other purchases the transaction itself.
    package let originalTransaction: Int
    /// The indexes in `AppStoreState.accounts` and `AppStoreState.apps`.
    let account: Int
    let app: Int
    /// The index in `AppStoreState.products`.
    package let product: Int
    let purchaseDate: Date
    /// The purchase date of the original transaction.
    let originalPurchaseDate: Date
    /// The end of the period of a subscription that this transaction pays for; nil for other purchases.
    var expiresDate: Date?
    let quantity: Int64
    /// Whether the customer bought the product, or a subscription renewed.
    let reason: TransactionReason
    /// The offer that set the price; nil for the regular price.
    let offer: SubscriptionOffer?
    /// The customer's storefront at the purchase.
    let storefront: Storefront
    /// The amount that was charged, in milliunits of the storefront's currency.
    let price: Int64
    /// The UUID with which the developer marks the purchase as one of a user; nil without such a UUID.
    var appAccountToken: UUID?
    /// Nil while the purchase is valid.
    var revocation: Revocation?
    /// Whether an upgrade ended this transaction's period early.
    var isUpgraded = false
    /// Whether the app or its server has finished the transaction.
    package var isFinished = false
    /// The index of the purchaser's transaction, for a family member's transaction. Nil if the account itself paid.
    let sharedFrom: Int?
    /// The value of `AppStoreState.revision` at the last change of this transaction. The history is sorted by these
    /// values.
    var revision: Int
    /// When this transaction last changed.
    var modifiedAt: Date

    /// A refund, or the end of Family Sharing.
    struct Revocation: Sendable, Hashable {
        let date: Date
        let reason: RevocationReason
        let type: RevocationType
        /// The refunded percentage, in thousandths of a percent. Nil if all was refunded, or for Family Sharing.
        let percentage: Int64?
    }

    var isFamilyShared: Bool { sharedFrom != nil }
}
