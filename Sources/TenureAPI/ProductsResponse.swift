package import TenureCore
import TenureJSON

/// The app's products and what they grant: the response to `GET /v1/products`. With it, apps need no built-in product
/// IDs.
public struct ProductsResponse: Sendable, Hashable, Decodable {
    /// A product of the policy.
    public struct Product: Sendable, Hashable, Decodable {
        /// The product ID in App Store Connect.
        public let id: String
        /// The entitlements that a purchase of the product grants.
        public let grants: [Grant]
    }

    /// What a purchase of a product gives.
    public struct Grant: Sendable, Hashable, Decodable {
        /// The name of the entitlement in the policy.
        public let entitlement: String
        /// The length of a non-renewing purchase in ISO 8601, such as `P3M`.
        public let length: String?

        enum CodingKeys: String, CodingKey {
            case entitlement
            case length = "for"
        }
    }

    /// An entitlement of the policy.
    public struct Entitlement: Sendable, Hashable, Decodable {
        /// The name in the policy, such as `everything`.
        public let name: String
        /// The IDs of the products that grant it, in the order of the policy.
        public let products: [String]
        /// The trial; nil if customers can't try the entitlement.
        public let trial: Trial?
    }

    /// A trial of sessions or of days: one of both is set.
    public struct Trial: Sendable, Hashable, Decodable {
        /// How often a customer may try it.
        public let sessions: Int?
        /// How long a customer may try it, from the first session on.
        public let days: Int?
    }

    /// Each product once, in the order in which the policy first names it.
    public let products: [Product]
    /// The entitlements, in the order of the policy.
    public let entitlements: [Entitlement]

    /// Lists the products and entitlements of a policy.
    package init(_ policy: Policy) {
        var ids: [String] = []
        var grants: [String: [Grant]] = [:]
        for entitlement in policy.entitlements {
            for product in entitlement.products {
                if grants[product.id] == nil { ids.append(product.id) }
                grants[product.id, default: []].append(
                    Grant(entitlement: entitlement.name, length: product.length?.iso8601))
            }
        }
        products = ids.map { Product(id: $0, grants: grants[$0] ?? []) }
        entitlements = policy.entitlements.map { entitlement in
            let trial: Trial? =
                switch entitlement.trial {
                case .sessions(let count): Trial(sessions: count, days: nil)
                case .days(let count): Trial(sessions: nil, days: count)
                case nil: nil
                }
            return Entitlement(name: entitlement.name, products: entitlement.products.map(\.id), trial: trial)
        }
    }
}

extension JSONWriter {
    /// Writes the response.
    package mutating func value(_ answer: ProductsResponse) {
        object { json in
            json.field("products", answer.products) { json, product in
                json.object { json in
                    json.field("id", product.id)
                    json.field("grants", product.grants) { $0.value($1) }
                }
            }
            json.field("entitlements", answer.entitlements) { $0.value($1) }
        }
    }

    private mutating func value(_ grant: ProductsResponse.Grant) {
        object { json in
            json.field(ProductsResponse.Grant.CodingKeys.entitlement, grant.entitlement)
            json.field(ProductsResponse.Grant.CodingKeys.length, ifPresent: grant.length)
        }
    }

    private mutating func value(_ entitlement: ProductsResponse.Entitlement) {
        object { json in
            json.field("name", entitlement.name)
            json.field("products", entitlement.products)
            if let trial = entitlement.trial {
                json.object("trial") { json in
                    json.field("sessions", ifPresent: trial.sessions)
                    json.field("days", ifPresent: trial.days)
                }
            }
        }
    }
}
