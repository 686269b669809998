import Foundation
import Hummingbird
import TenureAPI
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// The routes that find customers, by an ID or by an artifact.
struct SearchHandlers: Sendable {
    let keys: AdminKeyCheck
    let customers: CustomerReader
    let verifier: AppStoreVerifier
    let bodySize: Int

    /// `GET /v1/admin/customers?id=…`: finds customers by an ID of any kind.
    @Sendable func find(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await keys.holder(of: request, context, needing: .read)
        guard let text = request.uri.queryParameters["id"] else {
            throw Problem(.malformedRequest, "`id` is missing; add the ID to find as `?id=…`")
        }
        let matches = try await customers(withID: try AdminParameter.id(String(text), "id"))
        return .jsonObject { $0.field(FoundCustomers.CodingKeys.customers, matches) { $0.value(summaryOf: $1) } }
    }

    /// `POST /v1/admin/customers/find`: finds customers by the IDs in an artifact, even if the artifact can't be
    /// verified. The route stores nothing.
    @Sendable func findByArtifact(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await keys.holder(of: request, context, needing: .read)
        let body = try await request.decoded(FindRequest.self, upTo: bodySize, in: context)
        let pasted = try PastedArtifact(body.artifact, verifiedBy: verifier, now: customers.now())
        var matches: [Customer] = []
        for id in pasted.ids {
            for customer in try await customers(withID: id) where !matches.contains(where: { $0.id == customer.id }) {
                matches.append(customer)
            }
        }
        return .jsonObject { json in
            json.key("artifact")
            json.value(pasted)
            json.field(FoundCustomers.CodingKeys.customers, matches) { $0.value(summaryOf: $1) }
        }
    }

    private func customers(withID id: String) async throws -> [Customer] {
        try await customers.store.read { try $0.customers(withAnyID: id, in: customers.realms.all) }
    }
}

/// The body of `POST /v1/admin/customers/find`.
struct FindRequest: AdminRequest {
    /// A JWS, a notification, a receipt in Base64, or a response of verifyReceipt, as text.
    let artifact: String

    enum CodingKeys: String, CodingKey, CaseIterable {
        case artifact
    }
}

/// The customers in the response to a search, as a client decodes them.
package struct FoundCustomers: Sendable, Hashable, Decodable {
    package let customers: [Customer]

    enum CodingKeys: String, CodingKey {
        case customers
    }

    /// A found customer.
    package struct Customer: Sendable, Hashable, Decodable {
        /// The public ID.
        package let id: String
        /// The environment of the App Store from which the customer's artifacts are.
        package let environment: String

        enum CodingKeys: String, CodingKey {
            case id, environment
        }
    }
}

extension JSONWriter {
    /// Writes the fields of a customer that the response to a search has.
    mutating func value(summaryOf customer: Customer) {
        typealias Key = FoundCustomers.Customer.CodingKeys
        object { json in
            json.field(Key.id, customer.publicID)
            json.field(Key.environment, customer.realm.environment.rawValue)
            if customer.realm.isTest { json.field("isTest", true) }
            json.field("createdAt", customer.createdAt)
        }
    }
}
