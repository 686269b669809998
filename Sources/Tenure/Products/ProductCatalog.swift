package import Foundation
import TenureAPI
public import TenureCore

extension Tenure {
    /// The products and the entitlements that they grant, from the service (`GET /v1/products`, requested once a day)
    /// or else from the policy. Nil if neither is available. If the device has no stored list from the service, waits
    /// until the service responds or the request fails.
    public var catalog: Tenure.ProductCatalog? { get async { await engine.knownCatalog() } }

    /// The products and the entitlements that each product grants, from the policy or the service (`GET /v1/products`).
    /// An app that uses this catalog doesn't need a second list of product IDs.
    public struct ProductCatalog: Sendable, Hashable {
        /// An entitlement that a product grants.
        public struct Grant: Sendable, Hashable {
            /// The name of the entitlement in the policy.
            public let entitlement: String
            /// How long a non-renewing purchase lasts; nil for other types.
            public let length: CalendarPeriod?
        }

        /// The IDs of all products, without duplicates, in the order of the policy. Pass them to StoreKit.
        public let ids: [String]
        /// By product ID.
        private let grants: [String: [Grant]]
        private let productsByEntitlement: [String: [String]]
        /// By entitlement.
        private let trials: [String: TenureCore.Trial]

        /// Creates the catalog of a policy's products.
        public init(_ policy: Policy) { self.init(ProductsResponse(policy)) }

        /// Creates a catalog from a response of the service. Ignores a length that can't be read.
        init(_ response: ProductsResponse) {
            var seen: Set<String> = []
            ids = response.products.map(\.id).filter { seen.insert($0).inserted }
            let grants = response.products.map { product in
                product.grants.map { grant in
                    Grant(entitlement: grant.entitlement, length: grant.length.flatMap { CalendarPeriod(iso8601: $0) })
                }
            }
            self.grants = Dictionary(zip(response.products.map(\.id), grants)) { first, _ in first }
            let names = response.entitlements.map(\.name)
            productsByEntitlement = Dictionary(zip(names, response.entitlements.map(\.products))) { first, _ in first }
            let trials = response.entitlements.compactMap { entitlement in
                TenureCore.Trial(entitlement.trial).map { (entitlement.name, $0) }
            }
            self.trials = Dictionary(trials) { first, _ in first }
        }

        /// A policy for decisions about purchases alone: only these products grant entitlements. Nil if the names in
        /// the service's response are invalid.
        var policy: Policy? {
            Policy(
                ofPurchases: productsByEntitlement.map { name, products in
                    Entitlement(
                        name: name,
                        products: products.map { id in
                            .init(id: id, length: grants(of: id).first { $0.entitlement == name }?.length)
                        })
                })
        }

        /// Returns the products that grant an entitlement, in the order of the policy.
        public func products(for entitlement: String) -> [String] { productsByEntitlement[entitlement] ?? [] }

        /// Returns the entitlements that a product grants. Empty if the product is unknown.
        public func grants(of product: String) -> [Grant] { grants[product] ?? [] }

        /// Returns how long a purchase of a non-renewing product lasts; nil for other products. If the product grants
        /// several entitlements for different lengths, returns the longest length.
        public func length(of product: String) -> CalendarPeriod? {
            grants(of: product).compactMap(\.length).max { $0.approximateDays < $1.approximateDays }
        }

        /// Returns how many days or sessions an entitlement may be tried; nil if it has no trial.
        public func trial(of entitlement: String) -> TenureCore.Trial? { trials[entitlement] }
    }
}

extension Policy {
    /// Creates a policy for decisions about purchases alone. Nil if a name is invalid.
    init?(ofPurchases entitlements: [Entitlement]) {
        // A policy must have an era (a period with one business model), but no entitlement of this policy depends
        // on it.
        let app = Policy.App(bundleID: "catalog")
        guard let policy = try? Policy(app: app, eras: [Era(name: "any", model: .free)], entitlements: entitlements)
        else { return nil }
        self = policy
    }
}

extension TenureCore.Trial {
    fileprivate init?(_ trial: ProductsResponse.Trial?) {
        switch (trial?.sessions, trial?.days) {
        case (let sessions?, _) where sessions > 0: self = .sessions(sessions)
        case (_, let days?) where days > 0: self = .days(days)
        default: return nil
        }
    }
}

/// The service's last list of products, stored for the next start.
package struct CachedCatalog: Sendable, Hashable, Codable {
    /// The body of the response.
    package var text: String
    /// The `ETag` of the response.
    package var tag: String?
    /// The time when the list was last fetched or confirmed as unchanged, by this device's clock.
    package var fetchedAt: Date

    /// The maximum size in bytes, because the keychain isn't for large data.
    static let maximumTextSize = 256 * 1024

    package init(text: String, tag: String? = nil, fetchedAt: Date) {
        self.text = text
        self.tag = tag
        self.fetchedAt = fetchedAt
    }

    /// The catalog in `text`. Nil if it can't be read.
    var catalog: Tenure.ProductCatalog? {
        (try? JSONDecoder().decode(ProductsResponse.self, from: Data(text.utf8))).map { Tenure.ProductCatalog($0) }
    }
}

/// Keeps the service's list of products up to date.
extension Engine {
    /// Returns the products from the service, or else from the device's policy. Asks the service first, if the device
    /// has stored no list from it.
    func knownCatalog() async -> Tenure.ProductCatalog? {
        load()
        if device.stored.catalog == nil {
            await refreshProducts()
            device.save()
        }
        return device.stored.catalog?.catalog ?? device.facts.policy.map { Tenure.ProductCatalog($0) }
    }

    /// Requests the list of products from the service, once a day. After a failure, the next search of the App Store
    /// tries again.
    func refreshProducts() async {
        // Several callers share one request.
        let task =
            productsTask
            ?? Task {
                await service.requestProducts()
                productsTask = nil
            }
        productsTask = task
        await task.value
    }
}
