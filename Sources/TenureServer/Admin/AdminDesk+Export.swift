import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension AdminDesk {
    /// `GET /v1/admin/customers/{id}/export?unboundAfter=…`: everything stored about a customer, with unchanged
    /// artifacts. Unbound customers come in pages; each page repeats the rest.
    @Sendable func export(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        let holder = try await gate.holder(of: request, context, needing: .export, on: id)
        let now = now()
        let unboundAfter = try request.uri.queryParameters["unboundAfter"].map { text throws(Problem) in
            guard let number = Int64(text), number > 0 else {
                throw Problem(.malformedRequest, "`unboundAfter` must be the `nextUnbound` of the previous page")
            }
            return number
        }
        let details = try await details(id, with: [.bytes, .unbound, .audit], unboundAfter: unboundAfter ?? 0)
        let entry = AuditEntry(
            at: now, actor: holder.name, action: "export", customer: details.customer.publicID,
            detail: try reason(of: request).map { ["reason": $0] } ?? [:])
        try await store.write { try $0.audit(entry) }
        let answer = try await answer(for: details.customer, to: request)
        var json = JSONWriter(capacity: 1 << 16)
        json.object { json in
            json.key("exportedAt")
            json.value(now)
            json.key("customer")
            json.value(answer)
            json.key("data")
            json.value(details)
            json.key("nextUnbound")
            if let visit = details.nextUnbound { json.value(visit) } else { json.null() }
        }
        return .json(json)
    }
}

extension JSONWriter {
    fileprivate mutating func value(_ details: CustomerDetails) {
        object { json in
            json.key("mergedCustomers")
            json.array(details.members) { $0.value($1) }
            json.key("identities")
            json.array(details.identities) { $0.value($1) }
            json.key("artifacts")
            json.array(details.artifacts) { $0.value($1) }
            json.key("notifications")
            json.array(details.notifications) { $0.value($1) }
            json.key("promises")
            json.array(details.promises) { $0.value($1) }
            json.key("support")
            json.array(details.support) { $0.value($1) }
            json.key("events")
            json.array(details.events) { $0.value($1) }
            json.key("devices")
            json.array(details.devices) { $0.value($1) }
            json.key("trialSessions")
            json.array(details.trialSessions) { $0.value($1) }
            json.key("audit")
            json.array(details.audit) { $0.value(AuditLine($1)) }
            json.key("unboundCustomers")
            json.array(details.unbound) { $0.value($1) }
        }
    }
}
