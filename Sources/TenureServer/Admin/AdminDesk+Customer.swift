import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension AdminDesk {
    /// `GET /v1/admin/customers/{id}`: what they have and why, and by what they are known.
    @Sendable func customer(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        _ = try await gate.holder(of: request, context, needing: .read, on: id)
        let dossier = try await dossier(id)
        let answer = try await answer(for: dossier.customer, to: request)
        var json = JSONWriter(capacity: 8192)
        json.object { json in
            json.key("customer")
            json.value(answer)
            json.key("createdAt")
            json.value(dossier.customer.createdAt)
            json.key("members")
            json.array(dossier.members) { $0.value($1) }
            json.key("identities")
            // Those of a renewal tell nothing here that its subscription's do not.
            json.array(dossier.identities.filter { $0.kind < .transactionID }) { $0.value($1) }
            json.key("promises")
            json.array(dossier.promises) { $0.value($1) }
            json.key("support")
            json.array(dossier.support) { $0.value($1) }
            json.key("devices")
            json.value(dossier.devices.count)
            json.key("certificates")
            json.value(dossier.devices.reduce(0) { $0 + $1.certificates })
            json.key("artifacts")
            json.value(dossier.artifacts.count)
        }
        return .json(json)
    }
}
