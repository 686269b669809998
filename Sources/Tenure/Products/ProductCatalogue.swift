package import TenureAPI
public import TenureCore

extension Tenure {
    /// Which products there are, and what each of them gives: from the policy, or from the service (`GET /v1/products`), so
    /// that an app need not hold their ids twice.
    public struct ProductCatalogue: Sendable, Hashable {
        public struct Gift: Sendable, Hashable {
            public let entitlement: String
            /// How long a non-renewing purchase of it runs.
            public let length: CalendarPeriod?
        }

        /// All of them, once each, in the order of the policy: what to ask StoreKit for.
        public let ids: [String]
        private let gifts: [String: [Gift]]
        private let productsByEntitlement: [String: [String]]
        private let trials: [String: TenureCore.Trial]

        public init(_ policy: Policy) {
            self.init(ProductsResponse(policy))
        }

        /// An answer of the service. A length that cannot be read counts as not said.
        package init(_ response: ProductsResponse) {
            var seen: Set<String> = []
            ids = response.products.map(\.id).filter { seen.insert($0).inserted }
            gifts = Dictionary(
                response.products.map { product in
                    (
                        product.id,
                        product.gives.map {
                            Gift(
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

        /// A policy that grants what the products give, and nothing else.
        var policy: Policy? {
            // No entitlement honors the era, which a policy must have.
            try? Policy(
                app: Policy.App(bundleID: "catalog"), eras: [Era(name: "any", model: .free)],
                entitlements: productsByEntitlement.map { name, products in
                    Entitlement(
                        name: name,
                        products: products.map { id in
                            .init(id: id, length: gifts(of: id).first { $0.entitlement == name }?.length)
                        })
                })
        }

        /// The products that give an entitlement, in the order of the policy.
        public func products(for entitlement: String) -> [String] { productsByEntitlement[entitlement] ?? [] }

        /// What a product gives; nothing where it is unknown.
        public func gifts(of product: String) -> [Gift] { gifts[product] ?? [] }

        /// How long a purchase of a non-renewing product runs, for its terms: of several lengths the longest.
        public func length(of product: String) -> CalendarPeriod? {
            gifts(of: product).compactMap(\.length).max { $0.approximateDays < $1.approximateDays }
        }

        /// How others may try an entitlement.
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
