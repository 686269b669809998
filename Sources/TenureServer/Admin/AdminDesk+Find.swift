import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension AdminDesk {
    /// `GET /v1/admin/customers?id=…`: by an id of any kind.
    @Sendable func find(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await gate.holder(of: request, context, needing: .read)
        guard let text = request.uri.queryParameters["id"] else {
            throw Problem(.malformedRequest, "name an id: `?id=…`")
        }
        let id = try id(String(text), "id")
        let customers = try await store.read { try $0.customers(withAnyID: id, in: realms.all) }
        var json = JSONWriter()
        json.object { json in
            json.key("customers")
            json.array(customers) { $0.value(FoundCustomer($1)) }
        }
        return .json(json)
    }

    /// `POST /v1/admin/customers/find`: by what was pasted. Nothing of it is recorded, and what does not verify only
    /// tells whom it claims to be of.
    @Sendable func findByArtifact(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await gate.holder(of: request, context, needing: .read)
        let body = try await request.decoded(FindRequest.self, upTo: limits.bodySize, in: context)
        let pasted = try PastedArtifact(body.artifact, by: verifier, now: now())
        var customers: [Customer] = []
        for id in pasted.ids {
            for customer in try await store.read({ try $0.customers(withAnyID: id, in: realms.all) })
            where !customers.contains(where: { $0.id == customer.id }) { customers.append(customer) }
        }
        var json = JSONWriter()
        json.object { json in
            json.key("artifact")
            json.value(pasted)
            json.key("customers")
            json.array(customers) { $0.value(FoundCustomer($1)) }
        }
        return .json(json)
    }
}

extension FoundCustomer {
    init(_ customer: Customer) {
        self.init(
            id: customer.publicID, environment: customer.realm.environment.rawValue, isTest: customer.realm.isTest,
            createdAt: customer.createdAt)
    }
}
