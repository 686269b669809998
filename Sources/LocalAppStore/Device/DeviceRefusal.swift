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
