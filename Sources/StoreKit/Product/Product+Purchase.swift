public import Foundation

extension Product {
    /// What came of a purchase.
    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        /// Somebody has to agree first, such as a parent; the transaction comes as one of `Transaction.updates`.
        case pending
    }

    /// Why a purchase cannot be made.
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

    /// Lets the customer buy it. A lifetime purchase or a running subscription is handed over once more; of
    /// another product of a running subscription's group the plan changes.
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
        case .invalidQuantity: "this quantity cannot be bought"
        case .productUnavailable: "the product is not for sale"
        case .purchaseNotAllowed: "purchases are not allowed on this device"
        case .ineligibleForOffer: "the offer is not for this customer"
        case .invalidOfferIdentifier: "there is no such offer"
        case .invalidOfferPrice: "the price of the offer is not valid"
        case .invalidOfferSignature: "the signature of the offer is not valid"
        case .missingOfferParameters: "something about the offer is missing"
        }
    }
}
