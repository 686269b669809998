public import Foundation

/// One in-app purchase of an app receipt: attribute 17.
/// A date or text that the receipt leaves empty is nil, like a missing one.
public struct InAppPurchase: Sendable, Hashable {
    public internal(set) var productID: String
    public internal(set) var transactionID: String
    public internal(set) var originalTransactionID: String?
    public internal(set) var quantity: UInt64?
    public internal(set) var purchaseDate: Date?
    public internal(set) var originalPurchaseDate: Date?
    /// The value in the receipt: 0 non-consumable, 1 consumable, 2 non-renewing, 3 auto-renewable subscription.
    public internal(set) var productType: UInt64?
    public internal(set) var expiresDate: Date?
    /// When it was refunded.
    public internal(set) var cancellationDate: Date?
    public internal(set) var webOrderLineItemID: UInt64?
    public internal(set) var isTrialPeriod: Bool?
    public internal(set) var isInIntroOfferPeriod: Bool?
    public internal(set) var promotionalOfferID: String?
}
