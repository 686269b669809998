/// What a customer's device asks the App Store. StoreKit on Linux asks by these names, in process and by HTTP
/// (`POST /control/device/NAME`).
///
/// Each question names the `customer` (without one: the only customer) and the `app` (without one: the only app), and
/// what is signed in its answer is signed for the `device`, a UUID.
package enum DeviceQuestion: String, CaseIterable, Sendable, Hashable {
    /// All that the App Store knows of the customer in this app: transactions, subscriptions, storefront.
    case contents
    /// Whether anything has happened since the change of the number `after`. The answer waits for it, by HTTP for
    /// `seconds` at the most.
    case changes
    case appTransaction
    /// The legacy receipt, in Base64.
    case receipt
    /// What is on sale, of the `ids`, at the prices of the customer's storefront.
    case products
    /// Buys a `product`: `quantity`, `offer`, `appAccountToken`.
    case purchase
    /// The app is done with a `transaction`.
    case finish
    /// The certificates under which the store signs, in Base64 of DER.
    case roots
    /// The time of the world.
    case now
    /// Something happens in the world: `acts`, as the control interface takes them. Where one needs a customer and names
    /// none, it is the one who asks.
    case acts
}

/// Why a device gets no answer.
package struct DeviceRefusal: Error, Sendable, CustomStringConvertible {
    package enum Code: String, CaseIterable, Sendable, Hashable {
        /// The question cannot be understood, or there is no such customer or app.
        case badRequest
        /// There is no such product, or the customer never got the app.
        case unknown
        case notForSale
        case notEligible
        case noOffer
        /// The payment fails.
        case notPayable
        /// The world is not such that it could happen.
        case impossible
        /// The store cannot sign or keep it.
        case broken
    }

    package let code: Code
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    init(_ error: any Error) {
        switch error {
        case let error as DeviceRefusal: self = error
        case let error as WorldError: self.init(error.code, error.description)
        case let error as ActMistake: self.init(.badRequest, error.description)
        case let error as JournalError: self.init(.broken, error.description)
        default: self.init(.broken, "the answer cannot be signed: \(error)")
        }
    }
}

extension WorldError {
    fileprivate var code: DeviceRefusal.Code {
        switch self {
        case .noApp, .whichApp, .noCustomer, .noStorefront: .badRequest
        case .noProduct, .noRelease, .notReleased, .hasNoApp: .unknown
        case .notForSale: .notForSale
        case .notEligible: .notEligible
        case .noOffer: .noOffer
        case .unfit(_, _, must: "be payable"): .notPayable
        case .customerExists, .hasApp, .neverBought, .hasSubscription, .noSubscription, .noFamily, .unfit,
            .appNotBought:
            .impossible
        }
    }
}
