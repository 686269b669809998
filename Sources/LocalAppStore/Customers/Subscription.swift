import Foundation
import TenureAppStore

/// One account's subscription in one group, over all its periods and changes of plan.
struct Subscription: Sendable, Hashable {
    enum State: Sendable, Hashable {
        case active
        /// The renewal couldn't be charged, and the customer keeps access until this date.
        case gracePeriod(until: Date)
        /// The customer has no access, and the App Store continues to try to charge the renewal.
        case billingRetry
        /// The subscription ended for this reason.
        case expired(ExpirationIntent)
        /// The current period was refunded, or is no longer shared.
        case revoked
    }

    /// A higher price from the next renewal on, and whether the customer has agreed to it.
    struct PriceIncrease: Sendable, Hashable {
        var price: Int64
        var status: PriceIncreaseStatus
    }

    // The indexes of the subscription, the account and the app in the lists of `AppStoreState`.
    let index: Int
    let account: Int
    let app: Int
    /// The name of the subscription group.
    let group: String
    // The indexes of the first transaction, and of the transaction for the current period.
    let originalTransaction: Int
    var currentTransaction: Int
    // The indexes of the current product, and of the product from the next renewal on.
    var product: Int
    var renewsAs: Int
    /// Whether the customer has automatic renewal switched on.
    var autoRenews = true
    var state = State.active
    /// The price of the next renewal, in milliunits.
    var renewalPrice: Int64
    /// The announced higher price, from the next renewal on; nil if no increase was announced.
    var priceIncrease: PriceIncrease?
    /// The offer that reduces the next payments (nil for regular payments), and the number of these payments.
    var nextOffer: SubscriptionOffer?
    var offerPaymentsLeft = 0
    /// When the subscription began (`recentSubscriptionStartDate`). A gap of up to 60 days between two periods doesn't
    /// change this date.
    var streakBegan: Date
    /// How many times the subscription has renewed since it was last bought. In the sandbox, a subscription ends after
    /// a number of renewals (`SandboxPeriods.renewals`).
    var renewals = 0
    /// The dates at which the developer extended the renewal date.
    var extensions: [Date] = []
    /// The index of the purchaser's subscription, for a family member's subscription. Nil if the account itself pays.
    let sharedFrom: Int?
    /// The indexes of the family members' subscriptions, for the purchaser's subscription.
    var sharedWith: [Int] = []
    /// Whether the purchaser shares the subscription with the family.
    var isShared = false

    /// The state as App Store artifacts report it.
    var status: SubscriptionStatus {
        switch state {
        case .active: .active
        case .gracePeriod: .gracePeriod
        case .billingRetry: .billingRetry
        case .expired: .expired
        case .revoked: .revoked
        }
    }

    /// Whether the subscription hasn't ended: it is active, in a grace period or in billing retry.
    var isRunning: Bool { status == .active || isChargeDue }

    /// Whether the last renewal couldn't be charged, and the App Store still tries.
    var isChargeDue: Bool { status == .gracePeriod || status == .billingRetry }

    /// The end of the grace period; nil in every other state.
    var gracePeriodEnd: Date? { if case .gracePeriod(let end) = state { end } else { nil } }
}
