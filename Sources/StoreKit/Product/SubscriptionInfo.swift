import Foundation
import TenureJSON

extension Product {
    /// The information that only auto-renewable subscriptions have.
    public struct SubscriptionInfo: Equatable, Hashable, Sendable {
        /// The offer for customers who never subscribed in the group. Nil if there is no such offer.
        public let introductoryOffer: SubscriptionOffer?
        /// The offers for present and former subscribers. The developer's server decides which subscriber gets which
        /// offer.
        public let promotionalOffers: [SubscriptionOffer]
        /// The offers for former subscribers.
        public let winBackOffers: [SubscriptionOffer]
        /// The ID of the group. A customer can buy at most one subscription of a group. Family Sharing can add other
        /// subscriptions.
        public let subscriptionGroupID: String
        /// The length of a period at the regular price.
        public let subscriptionPeriod: SubscriptionPeriod
        /// The level of the subscription in its group. 1 is the highest.
        public let groupLevel: Int
        /// The name of the group: its ID, because a local App Store has no names.
        public let groupDisplayName: String

        /// Whether the customer is eligible for the introductory offer: they never subscribed in the group.
        public var isEligibleForIntroOffer: Bool {
            get async { await Self.isEligibleForIntroOffer(for: subscriptionGroupID) }
        }

        /// Whether the customer never subscribed in this group. False if the App Store was never reached.
        public static func isEligibleForIntroOffer(for groupID: String) async -> Bool {
            await LocalStore.current?.isEligibleForIntroOffer(groupID) ?? false
        }

        /// The statuses of the customer's subscriptions of the group: their own subscriptions, and subscriptions that
        /// the family shares. Throws a `StoreKitError` if the App Store can't be reached and was never reached before.
        public var status: [Status] { get async throws { try await Self.status(for: subscriptionGroupID) } }

        /// The statuses of the customer's subscriptions of this group. Throws as `status` does.
        public static func status(for groupID: String) async throws -> [Status] {
            try await LocalStore.required().statusesOrError().filter { $0.groupID == groupID }
        }

        /// The status of the subscription that a transaction belongs to; nil if there is no such subscription.
        public static func status(transactionID: UInt64) async throws -> Status? {
            let store = try LocalStore.required()
            let original = await store.transactions(.all).lazy.map(\.unsafePayloadValue)
                .first { $0.id == transactionID }?.originalID
            return try await store.statusesOrError().first { $0.originalID == original ?? transactionID }
        }

        init?(_ json: JSONObject, style: Decimal.FormatStyle.Currency) {
            guard let group = json.text("group"), let period = json.period("period") else { return nil }
            let offers = json.objects("offers").compactMap { Product.SubscriptionOffer($0, style: style) }
            introductoryOffer = offers.first { $0.type == .introductory }
            promotionalOffers = offers.filter { $0.type == .promotional }
            winBackOffers = offers.filter { $0.type == .winBack }
            subscriptionGroupID = group
            subscriptionPeriod = period
            groupLevel = json.integer("level") ?? 1
            groupDisplayName = group
        }
    }
}

/// Apple's short name for `Product.SubscriptionInfo`.
public typealias SubscriptionInfo = Product.SubscriptionInfo
/// Apple's short name for `Product.SubscriptionPeriod`.
public typealias SubscriptionPeriod = Product.SubscriptionPeriod
/// Apple's short name for `Product.SubscriptionInfo.RenewalInfo`.
public typealias SubscriptionRenewalInfo = Product.SubscriptionInfo.RenewalInfo
/// Apple's short name for `Product.SubscriptionInfo.RenewalState`.
public typealias SubscriptionRenewalState = Product.SubscriptionInfo.RenewalState
/// Apple's short name for `Product.SubscriptionInfo.Status`.
public typealias SubscriptionStatus = Product.SubscriptionInfo.Status
