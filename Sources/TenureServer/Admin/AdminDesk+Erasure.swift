import Foundation
import Hummingbird
import TenureAPI
import TenureJSON
import TenureStore

extension AdminDesk {
    /// `DELETE /v1/admin/customers/{id}`: says how much of what is gone.
    @Sendable func erase(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        let holder = try await gate.holder(of: request, context, needing: .erase, on: id)
        let outcome = try await perform(
            .erase, on: .publicID(id), by: holder, reason: try reason(of: request), request, context)
        guard case .erased(let counts) = outcome else { throw Problem(.internalError, "the act had no answer") }
        var json = JSONWriter()
        json.object { json in
            json.key("erased")
            json.value(id)
            json.key("removed")
            json.object { json in
                for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
                    json.key(name)
                    json.value(count)
                }
            }
        }
        return .json(json)
    }
}
