// The enumerations of fields in `NotificationPayload`.

/// The event that a notification reports.
public enum NotificationType: String, Sendable, Hashable, CaseIterable {
    /// The first purchase in a subscription group, or a new purchase after the subscription had lapsed. Also sent when
    /// a family member first gets access.
    case subscribed = "SUBSCRIBED"
    /// A period was charged; the nested transaction has the new `expiresDate`.
    case didRenew = "DID_RENEW"
    /// A subscriber redeemed an offer. Older notifications also report first purchases this way.
    case offerRedeemed = "OFFER_REDEEMED"
    /// The customer chose another product for the subscription. With the subtype `upgrade`, the product changes at
    /// once; with `downgrade`, at the next renewal. If there is no subtype, the customer took back a planned downgrade.
    case didChangeRenewalPref = "DID_CHANGE_RENEWAL_PREF"
    /// Automatic renewal was switched on or off. Access doesn't change before `expiresDate`.
    case didChangeRenewalStatus = "DID_CHANGE_RENEWAL_STATUS"
    /// A charge failed, and the App Store tries again for up to 60 days. Access ends at `expiresDate`, unless the
    /// subtype is `gracePeriod`.
    case didFailToRenew = "DID_FAIL_TO_RENEW"
    /// The grace period ended without a charge. Access ends; the App Store may still try to charge.
    case gracePeriodExpired = "GRACE_PERIOD_EXPIRED"
    /// The subscription ended. The subtype is the reason. If there is no subtype, Apple has no subtype for the reason.
    case expired = "EXPIRED"
    /// The customer was asked for consent to a higher price, or has given it. Access doesn't change.
    case priceIncrease = "PRICE_INCREASE"
    /// Advanced Commerce (see `AdvancedCommerceInfo`): the price of an item changes. Access doesn't change.
    case priceChange = "PRICE_CHANGE"
    /// Advanced Commerce: a name or description was changed.
    case metadataUpdate = "METADATA_UPDATE"
    /// Advanced Commerce: the subscription now has items of the developer. The raw value is the value in Apple's
    /// libraries; one of Apple's changelogs writes `MIGRATE`.
    case migration = "MIGRATION"
    /// Apple refunded the nested transaction, which may be an older period than the current period.
    case refund = "REFUND"
    /// Apple declined a refund. A later request for the same transaction may succeed.
    case refundDeclined = "REFUND_DECLINED"
    /// Apple took back a refund. The nested transaction has no revocation anymore.
    case refundReversed = "REFUND_REVERSED"
    /// The customer lost access through Family Sharing: the purchaser stopped sharing, left, or got a refund.
    case revoke = "REVOKE"
    /// A customer asked for a refund, and Apple asks the developer how much was used.
    case consumptionRequest = "CONSUMPTION_REQUEST"
    /// The developer extended the period of one subscription.
    case renewalExtended = "RENEWAL_EXTENDED"
    /// The developer extended many subscriptions. The notification has the result as a `summary`, or one subscription
    /// that couldn't be extended.
    case renewalExtension = "RENEWAL_EXTENSION"
    /// The customer bought a product other than an auto-renewable subscription.
    case oneTimeCharge = "ONE_TIME_CHARGE"
    /// An event of a token for a purchase outside of the App Store. The token is in `externalPurchaseToken`, and there
    /// is no `data`.
    case externalPurchaseToken = "EXTERNAL_PURCHASE_TOKEN"
    /// A parent withdrew the consent to a child's use of the app. `appData` has the app transaction. The child keeps
    /// the purchases; the app has to lock out the child.
    case rescindConsent = "RESCIND_CONSENT"
    /// A test that the developer requested with the App Store Server API. The notification has no transaction.
    case test = "TEST"
}

/// The details of a notification's event.
public enum NotificationSubtype: String, Sendable, Hashable, CaseIterable {
    /// Of `subscribed`: the first purchase in the subscription group.
    case initialBuy = "INITIAL_BUY"
    /// Of `subscribed`: a purchase after the customer's subscription in the group had lapsed.
    case resubscribe = "RESUBSCRIBE"
    /// Of `didRenew`: a charge succeeded after it had failed.
    case billingRecovery = "BILLING_RECOVERY"
    /// A change to a higher level of the subscription group, at once.
    case upgrade = "UPGRADE"
    /// A change to a lower level of the subscription group, from the next renewal on.
    case downgrade = "DOWNGRADE"
    /// Of `didChangeRenewalStatus`: the customer switched renewal on.
    case autoRenewEnabled = "AUTO_RENEW_ENABLED"
    /// Of `didChangeRenewalStatus`: the customer switched renewal off, or the App Store did after a refund request.
    case autoRenewDisabled = "AUTO_RENEW_DISABLED"
    /// Of `didFailToRenew`: the customer keeps access until `gracePeriodExpiresDate`.
    case gracePeriod = "GRACE_PERIOD"
    /// Of `expired`: the customer had switched renewal off.
    case voluntary = "VOLUNTARY"
    /// Of `expired`: no charge succeeded in 60 days.
    case billingRetry = "BILLING_RETRY"
    /// Of `expired`: the customer refused a price increase, or didn't agree to it in time.
    case priceIncrease = "PRICE_INCREASE"
    /// Of `expired`: the product was no longer sold at the renewal.
    case productNotForSale = "PRODUCT_NOT_FOR_SALE"
    /// Of `priceIncrease`: the customer hasn't answered.
    case pending = "PENDING"
    /// Of `priceIncrease`: the customer agreed, or the increase needs no consent.
    case accepted = "ACCEPTED"
    /// Of `renewalExtension`: all subscriptions were processed.
    case summary = "SUMMARY"
    /// Of `renewalExtension`: one subscription couldn't be extended.
    case failure = "FAILURE"
    /// Of `externalPurchaseToken`: the developer hasn't reported the token to Apple.
    case unreported = "UNREPORTED"
    /// Of `externalPurchaseToken`: the token was made. Apple documents this value; version 6.0.0 of Apple's Swift
    /// library doesn't have it.
    case created = "CREATED"
    /// Of `externalPurchaseToken`: the token is still active. Apple documents this value; version 6.0.0 of Apple's
    /// Swift library doesn't have it.
    case activeTokenReminder = "ACTIVE_TOKEN_REMINDER"
}

/// Why a customer asked for a refund.
public enum ConsumptionRequestReason: String, Sendable, Hashable, CaseIterable {
    /// The customer didn't mean to buy.
    case unintendedPurchase = "UNINTENDED_PURCHASE"
    /// The customer didn't get what was bought, or couldn't use it.
    case fulfillmentIssue = "FULFILLMENT_ISSUE"
    /// The customer didn't like the product.
    case unsatisfiedWithPurchase = "UNSATISFIED_WITH_PURCHASE"
    /// A legal reason, such as a right of withdrawal.
    case legal = "LEGAL"
    /// A reason that Apple's list doesn't have.
    case other = "OTHER"
}

/// The kind of token that Apple makes for a purchase outside of the App Store.
public enum ExternalPurchaseTokenType: String, Sendable, Hashable, CaseIterable {
    /// Apple's store services fee applies to the purchase.
    case services = "SERVICES"
    /// Apple's initial acquisition fee applies to the purchase.
    case acquisition = "ACQUISITION"
}

/// The state of a subscription, as notifications and the App Store Server API report it.
public enum SubscriptionStatus: Int64, Sendable, Hashable, CaseIterable {
    /// Entitles the customer. A refund of an older period doesn't change this state.
    case active = 1
    /// Doesn't entitle the customer.
    case expired = 2
    /// The charge failed and is tried again. Doesn't entitle the customer.
    case billingRetry = 3
    /// The charge failed. Entitles the customer until `gracePeriodExpiresDate`.
    case gracePeriod = 4
    /// The current period was refunded, or is no longer shared by the family. Doesn't entitle the customer.
    case revoked = 5
}
