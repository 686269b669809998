public import Foundation

extension Product {
    /// How a purchase ended. Failures are thrown instead.
    public enum PurchaseResult: Sendable {
        /// The new transaction, or the transaction that the customer already has. Finish the transaction after
        /// delivery.
        case success(VerificationResult<Transaction>)
        /// The customer closed the system's purchase sheet. On Linux there is no sheet: a test sets
        /// `LocalStore.Behavior.purchases` to `isCancelled`.
        case userCancelled
        /// A person such as a parent must approve the purchase first. The transaction then arrives through
        /// `Transaction.updates`.
        case pending
    }

    /// Why a purchase isn't possible.
    public enum PurchaseError: Error, Equatable, Hashable, Sendable {
        /// The quantity is less than 1 or more than 10. Or the quantity is more than 1, and the product is neither a
        /// consumable nor a non-renewing subscription.
        case invalidQuantity
        /// The local App Store doesn't sell the product, or no longer sells it.
        case productUnavailable
        /// `AppStore.canMakePayments` is false.
        case purchaseNotAllowed
        /// The offer is a promotional or win-back offer, and the customer never subscribed in the group.
        case ineligibleForOffer
        /// The product has no offer with this ID.
        case invalidOfferIdentifier
        /// The price of the offer is invalid. A purchase throws this error only if a test sets
        /// `LocalStore.Behavior.purchases` to it: a local App Store takes the price from the offer.
        case invalidOfferPrice
        /// The signature of the offer is invalid. A purchase throws this error only if a test sets
        /// `LocalStore.Behavior.purchases` to it: a local App Store doesn't check signatures of offers.
        case invalidOfferSignature
        /// The win-back offer has no ID.
        case missingOfferParameters
    }

    /// Buys the product. If the customer already has this non-consumable or this running subscription, returns its
    /// transaction. Buying another product of a running subscription's group changes the plan.
    ///
    /// Throws a `StoreKitError` or a `PurchaseError`.
    @MainActor
    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        try await LocalStore.required().purchase(self, options)
    }
}

extension Product.PurchaseError: LocalizedError {
    /// English text by this package; Apple's text is localized.
    public var errorDescription: String? {
        switch self {
        case .invalidQuantity:
            "this quantity can't be bought; use 1, or up to 10 of a consumable or a non-renewing subscription"
        case .productUnavailable: "the product isn't for sale"
        case .purchaseNotAllowed: "purchases aren't allowed on this device"
        case .ineligibleForOffer: "this customer isn't eligible for the offer"
        case .invalidOfferIdentifier: "the product has no offer with this ID"
        case .invalidOfferPrice: "the price of the offer isn't valid"
        case .invalidOfferSignature: "the signature of the offer isn't valid"
        case .missingOfferParameters: "the offer has no ID"
        }
    }
}
