public import Foundation

/// Why StoreKit failed.
public enum StoreKitError: Error, Sendable {
    /// An unknown reason; trying later often helps.
    case unknown
    /// The customer did not do what was needed, such as signing in.
    case userCancelled
    case networkError(URLError)
    case systemError(any Error)
    /// The product is not sold in the customer's storefront.
    case notAvailableInStorefront
    /// The app lacks an entitlement of its code signature; a local App Store never reports it.
    case notEntitled
    /// The product does not support this.
    case unsupported
}

extension StoreKitError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .unknown: "the App Store failed; try again later"
        case .userCancelled: "the customer canceled"
        case .networkError(let error): "the App Store cannot be reached: \(error.localizedDescription)"
        case .systemError(let error): "\(error)"
        case .notAvailableInStorefront: "the product is not sold in this storefront"
        case .notEntitled: "the app lacks an entitlement"
        case .unsupported: "the product does not support this"
        }
    }
}
