import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension AdminDesk {
    /// `GET /v1/admin/customers/{id}/export?visitsAfter=…`: everything that the record holds of a customer, artifacts as
    /// they came. What others showed comes in pages, the first of them with all the rest.
    @Sendable func export(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        let holder = try await gate.holder(of: request, context, needing: .export, on: id)
        let now = now()
        let visit = try request.uri.queryParameters["visitsAfter"].map { text throws(Problem) in
            guard let number = Int64(text), number > 0 else {
                throw Problem(.malformedRequest, "`visitsAfter` is what `nextVisit` of the page before said")
            }
            return number
        }
        let dossier = try await dossier(id, with: [.bytes, .visits, .audit], visitsAfter: visit ?? 0)
        try await store.audit(
            AuditEntry(
                at: now, actor: holder.name, act: "export", customer: dossier.customer.publicID,
                detail: try reason(of: request).map { ["reason": $0] } ?? [:]))
        let answer = try await answer(for: dossier.customer, to: request)
        var json = JSONWriter(capacity: 1 << 16)
        json.object { json in
            json.key("exportedAt")
            json.value(now)
            json.key("customer")
            json.value(answer)
            json.key("record")
            json.value(dossier)
            json.key("nextVisit")
            if let visit = dossier.nextVisit { json.value(visit) } else { json.null() }
        }
        return .json(json)
    }
}

extension JSONWriter {
    fileprivate mutating func value(_ dossier: CustomerDossier) {
        object { json in
            json.key("members")
            json.array(dossier.members) { $0.value($1) }
            json.key("identities")
            json.array(dossier.identities) { $0.value($1) }
            json.key("artifacts")
            json.array(dossier.artifacts) { $0.value($1) }
            json.key("notifications")
            json.array(dossier.notifications) { $0.value($1) }
            json.key("promises")
            json.array(dossier.promises) { $0.value($1) }
            json.key("support")
            json.array(dossier.support) { $0.value($1) }
            json.key("events")
            json.array(dossier.events) { $0.value($1) }
            json.key("devices")
            json.array(dossier.devices) { $0.value($1) }
            json.key("trialSessions")
            json.array(dossier.trialSessions) { $0.value($1) }
            json.key("audit")
            json.array(dossier.audit) { $0.value(AuditLine($1)) }
            json.key("visits")
            json.array(dossier.visits) { $0.value($1) }
        }
    }
}
