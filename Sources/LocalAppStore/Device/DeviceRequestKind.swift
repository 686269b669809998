/// The requests of a customer's device. Tenure's module `StoreKit` for Linux sends them, in process or over HTTP
/// (`POST /control/device/NAME`).
///
/// Each request has the `customer` (by default the only customer) and the `app` (by default the only app). Artifacts in
/// the response are signed for the `device`, a UUID.
package enum DeviceRequestKind: String, CaseIterable, Sendable, Hashable {
    /// Everything that the App Store knows about the customer in this app: transactions, subscriptions, storefront.
    case contents
    /// The number of changes of the store so far. The response comes as soon as the number is greater than `after`, or
    /// after `seconds` at the latest, if the request has this parameter.
    case changes
    /// The signed app transaction.
    case appTransaction
    /// The app receipt, in Base64.
    case receipt
    /// The products of `ids` that are on sale, at the prices of the customer's storefront.
    case products
    /// Buys a `product`. Optional: `quantity`, `offer`, `appAccountToken`.
    case purchase
    /// Records that the app has finished a `transaction`.
    case finish
    /// The root certificates of the store's test authority, in Base64 of DER.
    case roots
    /// The time of the local App Store's clock.
    case now
    /// Performs `operations`, in the form of the control interface. If an operation needs a customer and names none, it
    /// is performed for the request's `customer`.
    case operations
}

/// Why the local App Store refuses the request of a device.
package struct DeviceRefusal: Error, Sendable, CustomStringConvertible {
    /// A stable name for the reason, by which StoreKit on Linux chooses the error that it throws.
    package enum Code: String, CaseIterable, Sendable, Hashable {
        /// The request can't be understood, or there is no such customer or app.
        case badRequest
        /// The product or release doesn't exist, or the customer never got the app.
        case unknown
        /// The product was removed from sale.
        case notForSale
        /// The customer may not use the offer.
        case notEligible
        /// The product has no such offer.
        case noOffer
        /// The payment fails.
        case notPayable
        /// The store's state doesn't allow the request.
        case impossible
        /// The store can't sign the artifacts in the response, or can't save the change.
        case broken
    }

    package let code: Code
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Creates the refusal for an error that occurred while a request was answered.
    init(_ error: any Error) {
        switch error {
        case let error as DeviceRefusal: self = error
        case let error as AppStoreStateError: self.init(error.code, error.description)
        case let error as OperationMistake: self.init(.badRequest, error.description)
        case let error as JournalError: self.init(.broken, error.description)
        default: self.init(.broken, "the response can't be signed: \(error)")
        }
    }
}

extension AppStoreStateError {
    fileprivate var code: DeviceRefusal.Code {
        switch self {
        case .noApp, .whichApp, .noCustomer, .noStorefront: .badRequest
        case .noProduct, .noRelease, .notReleased, .hasNoApp: .unknown
        case .notForSale: .notForSale
        case .notEligible: .notEligible
        case .noOffer: .noOffer
        case .billingFails: .notPayable
        case .customerExists, .hasApp, .neverBought, .hasSubscription, .noSubscription, .noFamily, .wrongState,
            .appNotBought:
            .impossible
        }
    }
}
