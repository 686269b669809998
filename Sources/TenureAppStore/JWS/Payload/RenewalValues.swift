// The enumerations of fields in `RenewalInfoPayload`.

/// Whether a subscription renews at the end of its period.
public enum AutoRenewStatus: Int64, Sendable, Hashable, CaseIterable {
    /// The subscription ends with the current period. `renewalPrice` is then absent.
    case off = 0
    /// The subscription renews with `autoRenewProductId`, which differs from `productId` after a downgrade.
    case on = 1
}

/// Why a subscription expired.
public enum ExpirationIntent: Int64, Sendable, Hashable, CaseIterable {
    /// The customer switched renewal off.
    case customerCancelled = 1
    /// The charge failed, for example because a card had expired.
    case billingError = 2
    /// The customer didn't agree to a higher price.
    case priceIncreaseNotAccepted = 3
    /// The product was no longer sold at the renewal.
    case productUnavailable = 4
    /// A reason that Apple's list doesn't have.
    case other = 5
}

/// Whether the customer accepted a price increase.
public enum PriceIncreaseStatus: Int64, Sendable, Hashable, CaseIterable {
    /// The increase needs consent, and the customer hasn't given it.
    case notYetAnswered = 0
    /// The customer agreed, or Apple announced an increase that needs no consent.
    case accepted = 1
}
