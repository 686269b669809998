package import Foundation
package import TenureAppStore

/// One account's subscription in one group, over all its periods and changes of plan.
package struct Subscription: Sendable, Hashable {
    package enum State: Sendable, Hashable {
        case active
        /// The renewal could not be charged, and the customer keeps access until then.
        case gracePeriod(until: Date)
        /// The App Store goes on trying to charge.
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
    /// Places of transactions.
    package let original: Int
    package var current: Int
    /// Places of products: what runs, and what it renews as.
    package var product: Int
    package var renewsAs: Int
    package var autoRenews = true
    package var state = State.active
    /// Milliunits, of the next renewal.
    package var renewalPrice: Int64
    package var priceIncrease: PriceIncrease?
    /// What the next payments are made under, and how many.
    package var nextOffer: SubscriptionOffer?
    package var offerPaymentsLeft = 0
    package var streakBegan: Date
    /// Since it was last bought.
    package var renewals = 0
    /// When the developer put off the renewal.
    package var extensions: [Date] = []
    /// The purchaser's subscription, in a family member's; and the members' ones in the purchaser's.
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

    /// Whether it can still go on by itself.
    package var isRunning: Bool {
        switch state {
        case .active, .gracePeriod, .billingRetry: true
        case .expired, .revoked: false
        }
    }

    package var gracePeriodEnd: Date? { if case .gracePeriod(let end) = state { end } else { nil } }
}
