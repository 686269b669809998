import Hummingbird
import TenureAPI
import TenureJSON
import TenureStore

/// The route that lists the audit trail: what admin keys changed or exported, and which of their requests were refused.
struct AuditHandler: Sendable {
    let keys: AdminKeyCheck
    let store: Store

    /// `GET /v1/admin/audit?customer=…&before=…&limit=…`: newest entries first.
    @Sendable func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await keys.holder(of: request, context, needing: .audit)
        let size = try request.pageSize()
        let before = try request.position("before", from: "next")
        let customer = try request.uri.queryParameters["customer"].map { text throws(Problem) in
            try AdminParameter.id(String(text), "customer")
        }
        let entries = try await store.read { try $0.audit(before: before, of: customer, limit: size) }
        var json = JSONWriter(capacity: 8192)
        json.page("entries", of: entries, next: entries.count == size ? entries.last?.id : nil) { $0.value($1) }
        return .json(json)
    }
}
