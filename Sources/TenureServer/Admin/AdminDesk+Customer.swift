import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension AdminDesk {
    /// `GET /v1/admin/customers/{id}`: what the customer has and why, and their IDs.
    @Sendable func customer(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        _ = try await gate.holder(of: request, context, needing: .read, on: id)
        let details = try await details(id)
        let answer = try await answer(for: details.customer, to: request)
        var json = JSONWriter(capacity: 8192)
        json.object { json in
            json.key("customer")
            json.value(answer)
            json.key("createdAt")
            json.value(details.customer.createdAt)
            json.key("mergedCustomers")
            json.array(details.members) { $0.value($1) }
            json.key("identities")
            // Those of a renewal tell nothing here that its subscription's do not.
            json.array(details.identities.filter { $0.kind < .transactionID }) { $0.value($1) }
            json.key("promises")
            json.array(details.promises) { $0.value($1) }
            json.key("support")
            json.array(details.support) { $0.value($1) }
            json.key("devices")
            json.value(details.devices.count)
            json.key("entitlementTokens")
            json.value(details.devices.reduce(0) { $0 + $1.entitlementTokens })
            json.key("artifacts")
            json.value(details.artifacts.count)
        }
        return .json(json)
    }
}
