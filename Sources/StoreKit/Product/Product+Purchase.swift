public import Foundation

extension Product {
    /// The result of a purchase.
    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        /// A person such as a parent must approve it first; the transaction comes as one of `Transaction.updates`.
        case pending
    }

    /// Why a purchase isn't possible.
    public enum PurchaseError: Error, Equatable, Hashable, Sendable {
        case invalidQuantity
        case productUnavailable
        case purchaseNotAllowed
        case ineligibleForOffer
        case invalidOfferIdentifier
        case invalidOfferPrice
        case invalidOfferSignature
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
    public var errorDescription: String? {
        switch self {
        case .invalidQuantity: "this quantity can't be bought; use 1 to 10"
        case .productUnavailable: "the product isn't for sale"
        case .purchaseNotAllowed: "purchases aren't allowed on this device"
        case .ineligibleForOffer: "the offer isn't for this customer"
        case .invalidOfferIdentifier: "there is no such offer"
        case .invalidOfferPrice: "the price of the offer isn't valid"
        case .invalidOfferSignature: "the signature of the offer isn't valid"
        case .missingOfferParameters: "a parameter of the offer is missing"
        }
    }
}
