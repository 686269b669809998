import TenureAPI
public import TenureCore

extension Tenure {
    /// The products and the entitlements that they grant, from the service (`GET /v1/products`, requested once a day)
    /// or else from the policy. Nil if neither is available. If the device has no stored list from the service, waits
    /// until the service responds or the request fails.
    public var catalog: Tenure.ProductCatalog? {
        get async { await engine.knownCatalog() }
    }

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
        public init(_ policy: Policy) {
            self.init(ProductsResponse(policy))
        }

        /// Creates a catalog from a response of the service. Ignores a length that can't be read.
        init(_ response: ProductsResponse) {
            var seen: Set<String> = []
            ids = response.products.map(\.id).filter { seen.insert($0).inserted }
            grants = Dictionary(
                response.products.map { product in
                    (
                        product.id,
                        product.grants.map {
                            Grant(
                                entitlement: $0.entitlement, length: $0.length.flatMap { CalendarPeriod(iso8601: $0) })
                        }
                    )
                }
            ) { first, _ in first }
            productsByEntitlement = Dictionary(response.entitlements.map { ($0.name, $0.products) }) { first, _ in first
            }
            trials = Dictionary(
                response.entitlements.compactMap { entitlement in
                    TenureCore.Trial(entitlement.trial).map { (entitlement.name, $0) }
                }
            ) { first, _ in first }
        }

        /// A policy for decisions about purchases alone: only these products grant entitlements. Nil if the names in
        /// the service's response are invalid.
        var policy: Policy? {
            // A policy must have an era (a period with one business model), but no entitlement of this policy depends
            // on it.
            try? Policy(
                app: Policy.App(bundleID: "catalog"), eras: [Era(name: "any", model: .free)],
                entitlements: productsByEntitlement.map { name, products in
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

        /// Returns how long a purchase of a non-renewing product lasts; nil for other products. If it grants
        /// entitlements for several lengths, returns the longest.
        public func length(of product: String) -> CalendarPeriod? {
            grants(of: product).compactMap(\.length).max { $0.approximateDays < $1.approximateDays }
        }

        /// Returns how many days or sessions an entitlement may be tried; nil if it has no trial.
        public func trial(of entitlement: String) -> TenureCore.Trial? { trials[entitlement] }
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
