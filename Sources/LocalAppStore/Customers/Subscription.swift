package import Foundation
package import TenureAppStore

/// One account's subscription in one group, over all its periods and changes of plan.
package struct Subscription: Sendable, Hashable {
    package enum State: Sendable, Hashable {
        case active
        /// The renewal couldn't be charged, and the customer keeps access until then.
        case gracePeriod(until: Date)
        /// The App Store continues to try to charge.
        case billingRetry
        case expired(ExpirationIntent)
        /// The current period was refunded, or is no longer shared.
        case revoked
    }

    package struct PriceIncrease: Sendable, Hashable {
        package var price: Int64
        package var status: PriceIncreaseStatus
    }

    package let index: Int
    package let account: Int
    package let app: Int
    package let group: String
    /// Indexes of transactions.
    package let original: Int
    package var current: Int
    /// Indexes of products: the current one, and the one that it renews as.
    package var product: Int
    package var renewsAs: Int
    package var autoRenews = true
    package var state = State.active
    /// In milliunits, of the next renewal.
    package var renewalPrice: Int64
    package var priceIncrease: PriceIncrease?
    /// The offer of the next payments, and how many payments have it.
    package var nextOffer: SubscriptionOffer?
    package var offerPaymentsLeft = 0
    package var streakBegan: Date
    /// When it was last bought.
    package var renewals = 0
    /// When the developer extended the renewal date.
    package var extensions: [Date] = []
    /// For a family member's subscription, the purchaser's one; for the purchaser's, those of the members.
    package let sharedFrom: Int?
    package var sharedWith: [Int] = []
    package var isShared = false

    package var status: SubscriptionStatus {
        switch state {
        case .active: .active
        case .gracePeriod: .gracePeriod
        case .billingRetry: .billingRetry
        case .expired: .expired
        case .revoked: .revoked
        }
    }

    /// Whether it can still renew.
    package var isRunning: Bool {
        switch state {
        case .active, .gracePeriod, .billingRetry: true
        case .expired, .revoked: false
        }
    }

    package var gracePeriodEnd: Date? { if case .gracePeriod(let end) = state { end } else { nil } }
}
