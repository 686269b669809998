import Hummingbird
import TenureAPI
import TenureJSON
import TenureStore

/// The routes that read one customer: their decisions, timeline and export.
struct CustomerHandlers: Sendable {
    let customers: CustomerReader

    /// `GET /v1/admin/customers/{id}`: the customer's decisions with reasons, and their IDs.
    @Sendable func show(_ call: AdminCall, id: String) async throws -> Response {
        let details = try await customers.details(id)
        let answer = try await customers.answer(for: details.customer, to: call.request)
        return .jsonObject(capacity: 8192) { json in
            json.key("customer")
            json.value(answer)
            json.field("createdAt", details.customer.createdAt)
            json.objects("mergedCustomers", details.members) { $0.fields(of: $1) }
            // Leaves out the last kinds: the IDs of renewals, order lines and shared purchases. The original
            // transaction IDs already say which purchases the customer has.
            json.objects("identities", details.identities.filter { $0.kind < .transactionID }) { $0.fields(of: $1) }
            json.objects("promises", details.promises) { $0.fields(of: $1) }
            json.objects("support", details.support) { $0.fields(of: $1) }
            json.field("devices", details.devices.count)
            json.field("entitlementTokens", details.devices.reduce(0) { $0 + $1.entitlementTokens })
            json.field("artifacts", details.artifacts.count)
        }
    }

    /// `GET /v1/admin/customers/{id}/timeline?after=…&limit=…`: what happened to the customer, oldest first. `after` is
    /// the number of entries to skip.
    @Sendable func timeline(_ call: AdminCall, id: String) async throws -> Response {
        let size = try call.request.pageSize()
        let after = call.request.uri.queryParameters["after"] ?? "0"
        guard let start = Int(after), (0...Int(Int32.max)).contains(start) else {
            throw Problem(.malformedRequest, "`after` must be the `next` of the previous page")
        }
        let entries = try await customers.details(id).timeline
        let page = entries.dropFirst(start).prefix(size)
        let next = page.endIndex < entries.count ? Int64(page.endIndex) : nil
        return .json(capacity: 8192) { $0.page("entries", of: page, next: next) { $0.fields(of: $1) } }
    }

    /// `GET /v1/admin/customers/{id}/export?unboundAfter=…`: everything stored about a customer, with each artifact
    /// exactly as it was received.
    ///
    /// The export includes the unbound customers with IDs of this customer. An unbound customer is a set of artifacts
    /// that came without proof that they belong to the sender. Only the unbound customers come in pages. Each page
    /// repeats all other data.
    @Sendable func export(_ call: AdminCall, id: String) async throws -> Response {
        let now = customers.now()
        let unboundAfter = try call.request.position("unboundAfter", from: "nextUnbound") ?? 0
        let details = try await customers.details(id, with: [.bytes, .unbound, .audit], unboundAfter: unboundAfter)
        let entry = AuditEntry(
            at: now, actor: call.actor, action: "export", customer: details.customer.publicID,
            detail: try call.request.reason().map { ["reason": $0] } ?? [:])
        try await customers.store.write { try $0.audit(entry) }
        let answer = try await customers.answer(for: details.customer, to: call.request)
        return .jsonObject(capacity: 1 << 16) { json in
            json.field("exportedAt", now)
            json.key("customer")
            json.value(answer)
            json.object("data") { $0.fields(of: details) }
            json.field("nextUnbound", orNull: details.nextUnbound)
        }
    }
}
