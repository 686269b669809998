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
    let originalPurchaseDate: Date
    var expiresDate: Date?
    let quantity: Int64
    let reason: TransactionReason
    let offer: SubscriptionOffer?
    let storefront: Storefront
    /// The amount that was charged, in milliunits of the storefront's currency.
    let price: Int64
    var appAccountToken: UUID?
    var revocation: Revocation?
    var isUpgraded = false
    package var isFinished = false
    /// The index of the purchaser's transaction, for a family member's transaction.
    let sharedFrom: Int?
    /// The value of `AppStoreState.revision` at the last change of this transaction. The history is sorted by these
    /// values.
    var revision: Int
    var modifiedAt: Date

    /// A refund, or the end of Family Sharing.
    struct Revocation: Sendable, Hashable {
        let date: Date
        let reason: RevocationReason
        let type: RevocationType
        /// The refunded percentage, in thousandths of a percent.
        let percentage: Int64?
    }

    var isFamilyShared: Bool { sharedFrom != nil }
}
