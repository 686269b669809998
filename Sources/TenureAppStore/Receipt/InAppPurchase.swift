public import Foundation

/// One in-app purchase in an app receipt: attribute 17. An empty date or text is nil, like a missing date or text.
public struct InAppPurchase: Sendable, Hashable {
    /// The product ID in App Store Connect.
    public internal(set) var productID: String
    /// The ID of this transaction, which is unique in its environment.
    public internal(set) var transactionID: String
    /// The ID of the first purchase; the same for all periods of a subscription.
    public internal(set) var originalTransactionID: String?
    /// How many consumables were bought; otherwise 1.
    public internal(set) var quantity: UInt64?
    /// When the product was bought, restored or renewed.
    public internal(set) var purchaseDate: Date?
    /// When the account first bought the product. The date is the same after restores and renewals.
    public internal(set) var originalPurchaseDate: Date?
    /// The value in the receipt: 0 non-consumable, 1 consumable, 2 non-renewing, 3 auto-renewable subscription.
    public internal(set) var productType: UInt64?
    /// When the period of a subscription ends; nil for other products.
    public internal(set) var expiresDate: Date?
    /// When the purchase was refunded. Nil if it wasn't.
    public internal(set) var cancellationDate: Date?
    /// The ID of a subscription period, which is the same on all devices.
    public internal(set) var webOrderLineItemID: UInt64?
    /// Whether the period was a free trial.
    public internal(set) var isTrialPeriod: Bool?
    /// Whether the period had an introductory price.
    public internal(set) var isInIntroOfferPeriod: Bool?
    /// The ID of the promotional offer that applied. Nil if no offer applied.
    public internal(set) var promotionalOfferID: String?
}
