import Foundation
import Hummingbird
import TenureAPI
import TenureJSON
import TenureStore

extension AdminDesk {
    /// `GET /v1/admin/audit?customer=…&before=…&limit=…`: the latest first.
    @Sendable func audit(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await gate.holder(of: request, context, needing: .audit)
        let size = try pageSize(of: request)
        let before = try request.uri.queryParameters["before"].map { text throws(Problem) in
            guard let number = Int64(text), number > 0 else {
                throw Problem(.malformedRequest, "`before` is what `next` of the page before said")
            }
            return number
        }
        let customer = try request.uri.queryParameters["customer"].map { text throws(Problem) in
            try id(String(text), "customer")
        }
        let entries = try await store.read { try $0.audit(before: before, of: customer, limit: size) }
        var json = JSONWriter(capacity: 8192)
        json.page("entries", of: entries, next: entries.count == size ? entries.last?.id : nil) {
            $0.value(AuditLine($1))
        }
        return .json(json)
    }
}
