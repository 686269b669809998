public import Foundation

/// Why StoreKit could not do something.
public enum StoreKitError: Error, Sendable {
    /// For an unknown reason; trying later often helps.
    case unknown
    /// The customer did not do what was needed, such as signing in.
    case userCancelled
    case networkError(URLError)
    case systemError(any Error)
    /// The product is not sold in the customer's storefront.
    case notAvailableInStorefront
    /// The app lacks an entitlement of its code signature; a local store never says it.
    case notEntitled
    /// The product does not support this.
    case unsupported
}

extension StoreKitError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .unknown: "the App Store could not do it"
        case .userCancelled: "the customer cancelled"
        case .networkError(let error): "the App Store cannot be reached: \(error.localizedDescription)"
        case .systemError(let error): "\(error)"
        case .notAvailableInStorefront: "the product is not sold in this storefront"
        case .notEntitled: "the app lacks an entitlement"
        case .unsupported: "the product does not support this"
        }
    }
}
