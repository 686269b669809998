import Foundation
import TenureAppStore

/// One account's subscription in one group, over all its periods and changes of plan.
struct Subscription: Sendable, Hashable {
    enum State: Sendable, Hashable {
        case active
        /// The renewal couldn't be charged, and the customer keeps access until then.
        case gracePeriod(until: Date)
        /// The App Store continues to try to charge.
        case billingRetry
        case expired(ExpirationIntent)
        /// The current period was refunded, or is no longer shared.
        case revoked
    }

    struct PriceIncrease: Sendable, Hashable {
        var price: Int64
        var status: PriceIncreaseStatus
    }

    let index: Int
    let account: Int
    let app: Int
    let group: String
    /// Indexes of transactions.
    let original: Int
    var current: Int
    /// Indexes of products: the current one, and the one that it renews as.
    var product: Int
    var renewsAs: Int
    var autoRenews = true
    var state = State.active
    /// In milliunits, of the next renewal.
    var renewalPrice: Int64
    var priceIncrease: PriceIncrease?
    /// The offer of the next payments, and how many payments have it.
    var nextOffer: SubscriptionOffer?
    var offerPaymentsLeft = 0
    var streakBegan: Date
    /// When it was last bought.
    var renewals = 0
    /// When the developer extended the renewal date.
    var extensions: [Date] = []
    /// For a family member's subscription, the purchaser's one; for the purchaser's, those of the members.
    let sharedFrom: Int?
    var sharedWith: [Int] = []
    var isShared = false

    var status: SubscriptionStatus {
        switch state {
        case .active: .active
        case .gracePeriod: .gracePeriod
        case .billingRetry: .billingRetry
        case .expired: .expired
        case .revoked: .revoked
        }
    }

    /// Whether it can still renew.
    var isRunning: Bool {
        switch state {
        case .active, .gracePeriod, .billingRetry: true
        case .expired, .revoked: false
        }
    }

    var gracePeriodEnd: Date? { if case .gracePeriod(let end) = state { end } else { nil } }
}
