public import Foundation

extension Product {
    /// How a purchase ended. Failures are thrown instead.
    public enum PurchaseResult: Sendable {
        /// The new transaction, or the one that the customer already has. Finish it after delivery.
        case success(VerificationResult<Transaction>)
        /// Only with `LocalStore.Behavior.purchases = .isCancelled`, since there is no sheet to close.
        case userCancelled
        /// A person such as a parent must approve it first; the transaction comes as one of `Transaction.updates`.
        case pending
    }

    /// Why a purchase isn't possible.
    public enum PurchaseError: Error, Equatable, Hashable, Sendable {
        /// Less than 1 or more than 10, or more than 1 of anything but a consumable or a non-renewing subscription.
        case invalidQuantity
        /// The local App Store doesn't sell the product, or no longer.
        case productUnavailable
        /// `AppStore.canMakePayments` is false.
        case purchaseNotAllowed
        /// A promotional or win-back offer for a customer who never subscribed in the group.
        case ineligibleForOffer
        /// The product has no offer with this ID.
        case invalidOfferIdentifier
        /// Only if a behavior says so: a local App Store takes the price from the offer.
        case invalidOfferPrice
        /// Only if a behavior says so: a local App Store doesn't check signatures of offers.
        case invalidOfferSignature
        /// A win-back offer without an ID.
        case missingOfferParameters
    }

    /// Buys the product. A lifetime purchase or a running subscription is returned again. Another product of a running
    /// subscription's group changes the plan.
    ///
    /// Throws a `StoreKitError` or a `PurchaseError`.
    @MainActor
    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        try await LocalStore.required().purchase(self, options)
    }
}

extension Product.PurchaseError: LocalizedError {
    /// English text by this package; Apple's is localized.
    public var errorDescription: String? {
        switch self {
        case .invalidQuantity:
            "this quantity can't be bought; use 1, or up to 10 of a consumable or a non-renewing subscription"
        case .productUnavailable: "the product isn't for sale"
        case .purchaseNotAllowed: "purchases aren't allowed on this device"
        case .ineligibleForOffer: "the offer isn't for this customer"
        case .invalidOfferIdentifier: "the product has no offer with this ID"
        case .invalidOfferPrice: "the price of the offer isn't valid"
        case .invalidOfferSignature: "the signature of the offer isn't valid"
        case .missingOfferParameters: "a parameter of the offer is missing"
        }
    }
}
