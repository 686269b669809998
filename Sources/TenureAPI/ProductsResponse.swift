package import TenureCore
import TenureJSON

/// The app's products and what they grant: the response to `GET /v1/products`. Apps that request it need no built-in
/// product IDs.
package struct ProductsResponse: Sendable, Hashable, Decodable {
    /// A product of the policy.
    package struct Product: Sendable, Hashable, Decodable {
        /// The product ID in App Store Connect.
        package let id: String
        /// The entitlements that a purchase of the product grants.
        package let grants: [Grant]
    }

    /// What a purchase of a product gives.
    package struct Grant: Sendable, Hashable, Decodable {
        /// The name of the entitlement in the policy.
        package let entitlement: String
        /// The length of a non-renewing purchase in ISO 8601, such as `P3M`; nil if the policy has no length.
        package let length: String?

        enum CodingKeys: String, CodingKey {
            case entitlement
            case length = "for"
        }
    }

    /// An entitlement of the policy.
    package struct Entitlement: Sendable, Hashable, Decodable {
        /// The name in the policy, such as `everything`.
        package let name: String
        /// The IDs of the products that grant the entitlement, in the order of the policy.
        package let products: [String]
        /// The trial; nil if customers can't try the entitlement.
        package let trial: Trial?
    }

    /// A trial of sessions or of days: exactly one of the two properties is set.
    package struct Trial: Sendable, Hashable, Decodable {
        /// The number of sessions for which a customer may try the entitlement.
        package let sessions: Int?
        /// The number of days for which a customer may try the entitlement, from the first session on.
        package let days: Int?
    }

    /// The products, each listed once, in the order in which the policy first names them.
    package let products: [Product]
    /// The entitlements, in the order of the policy.
    package let entitlements: [Entitlement]

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
    /// Writes the response as a JSON object.
    package mutating func value(_ response: ProductsResponse) {
        typealias GrantKey = ProductsResponse.Grant.CodingKeys
        object { json in
            json.objects("products", response.products) { json, product in
                json.field("id", product.id)
                json.objects("grants", product.grants) { json, grant in
                    json.field(GrantKey.entitlement, grant.entitlement)
                    json.field(GrantKey.length, ifPresent: grant.length)
                }
            }
            json.objects("entitlements", response.entitlements) { json, entitlement in
                json.field("name", entitlement.name)
                json.field("products", entitlement.products)
                guard let trial = entitlement.trial else { return }
                json.object("trial") { json in
                    json.field("sessions", ifPresent: trial.sessions)
                    json.field("days", ifPresent: trial.days)
                }
            }
        }
    }
}
