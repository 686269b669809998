public import Foundation

/// Why StoreKit failed.
public enum StoreKitError: Error, LocalizedError, Sendable {
    /// An unknown reason; trying later often helps.
    case unknown
    /// The customer didn't do what was needed, such as signing in.
    case userCancelled
    /// The local App Store can't be reached, or `LocalStore.Behavior.isOffline` is set.
    case networkError(URLError)
    /// The local App Store refused the request, or isn't configured. The underlying error is a `LocalStore.Failure`
    /// with the reason.
    case systemError(any Error)
    /// The product isn't sold in the customer's storefront.
    case notAvailableInStorefront
    /// The app lacks an entitlement of its code signature; a local App Store never reports this error.
    case notEntitled
    /// The product doesn't support the operation.
    case unsupported

    /// English text by this package; Apple's text is localized.
    public var errorDescription: String? {
        switch self {
        case .unknown: "the App Store failed; try again later"
        case .userCancelled: "the customer canceled"
        case .networkError(let error): "the App Store can't be reached: \(error.localizedDescription)"
        case .systemError(let error): "\(error)"
        case .notAvailableInStorefront: "the product isn't sold in this storefront"
        case .notEntitled: "the app lacks an entitlement of its code signature"
        case .unsupported: "the product doesn't support this operation"
        }
    }
}
