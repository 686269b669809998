package import Foundation
package import TenureCore
import TenureJSON

/// Why an operation isn't possible.
package enum AppStoreStateError: Error, Sendable, Hashable, CustomStringConvertible {
    case noApp(String)
    /// The operation doesn't say for which app it is, and the store doesn't have exactly one app.
    case whichApp
    case noCustomer(String)
    case customerExists(String)
    case noStorefront(String)
    case noProduct(String)
    case notForSale(product: String)
    case notReleased(app: String, platform: Platform, Date)
    case noRelease(app: String, platform: Platform, named: String)
    case hasNoApp(customer: String, app: String)
    case hasApp(customer: String, app: String)
    case neverBought(customer: String, product: String)
    case hasSubscription(customer: String, product: String)
    case noSubscription(customer: String, product: String)
    case noOffer(product: String, offer: String)
    case notEligible(customer: String, offer: String)
    case noFamily(customer: String)
    /// The state of the purchase doesn't allow the operation. `must` is the state that it needs: "be refunded".
    case wrongState(customer: String, product: String, must: String)
    case appNotBought(customer: String, app: String)
    case billingFails(customer: String)

    package var description: String {
        switch self {
        case .noApp(let id): "the local App Store has no app `\(id)`; name an app that its scenario defines"
        case .whichApp: "the local App Store doesn't have exactly one app; name an app with `app`"
        case .noCustomer(let name): "there is no customer `\(name)`; create the customer with the operation `customer`"
        case .customerExists(let name): "there already is a customer `\(name)`; use another name"
        case .noStorefront(let code):
            "`\(code)` isn't a storefront of the local App Store; use one of \(Storefront.all.map(\.code).joined(separator: ", "))"
        case .noProduct(let id): "the local App Store has no product `\(id)`; name a product that its scenario defines"
        case .notForSale(let product): "`\(product)` isn't on sale anymore; put it on sale with `offerAgain`"
        case .notReleased(let app, let platform, let date):
            "`\(app)` had no release for \(platform.rawValue) at \(date.rfc3339); wait for the first release, or release a build earlier"
        case .noRelease(let app, let platform, let name):
            "`\(app)` never had a release `\(name)` for \(platform.rawValue); name a release that its scenario defines"
        case .hasNoApp(let customer, let app): "`\(customer)` doesn't have `\(app)`; let the customer acquire it first"
        case .hasApp(let customer, let app): "`\(customer)` has `\(app)` already; use `update` for a newer release"
        case .neverBought(let customer, let product):
            "`\(customer)` never bought `\(product)`; let the customer buy it first"
        case .hasSubscription(let customer, let product):
            "`\(customer)` has a subscription in the group of `\(product)` already; change the plan of that subscription instead"
        case .noSubscription(let customer, let product):
            "`\(customer)` has no subscription in the group of `\(product)`; let the customer buy one first"
        case .noOffer(let product, let offer):
            "`\(product)` has no offer `\(offer)`; name an offer that the scenario defines"
        case .notEligible(let customer, let offer):
            "`\(customer)` isn't eligible for the offer `\(offer)`; buy without the offer, or as another customer"
        case .noFamily(let customer): "`\(customer)` isn't in a family; create the customer with a `family`"
        case .wrongState(let customer, let product, let must):
            "`\(product)` of `\(customer)` isn't in the right state for this operation: it must \(must)"
        case .appNotBought(let customer, let app):
            "`\(app)` can't be refunded to `\(customer)`, who didn't pay for it or has a refund already; name another customer"
        case .billingFails(let customer): "every charge of `\(customer)` fails; perform `recover` first"
        }
    }
}
