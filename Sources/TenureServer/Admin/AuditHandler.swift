import Hummingbird
import TenureAPI
import TenureStore

/// The route that lists the audit trail: what admin keys changed or exported, and which of their requests were refused.
struct AuditHandler: Sendable {
    let store: Store

    /// `GET /v1/admin/audit?customer=…&before=…&limit=…`: newest entries first.
    @Sendable func list(_ call: AdminCall) async throws -> Response {
        let size = try call.request.pageSize()
        let before = try call.request.position("before", from: "next")
        let customer = try call.request.uri.queryParameters["customer"].map { text throws(Problem) in
            try AdminParameter.id(String(text), "customer")
        }
        let entries = try await store.read { try $0.audit(before: before, of: customer, limit: size) }
        let next = entries.count == size ? entries.last?.id : nil
        return .json(capacity: 8192) { $0.page("entries", of: entries, next: next) { $0.fields(of: $1) } }
    }
}
