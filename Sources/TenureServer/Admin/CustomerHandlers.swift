import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

/// The routes about one customer: their decisions, timeline, export and erasure.
struct CustomerHandlers: Sendable {
    let keys: AdminKeyCheck
    let customers: CustomerReader
    let changes: CustomerChanges

    /// `GET /v1/admin/customers/{id}`: the customer's decisions with reasons, and their IDs.
    @Sendable func show(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.pathID()
        _ = try await keys.holder(of: request, context, needing: .read, on: id)
        let details = try await customers.details(id)
        let answer = try await customers.answer(for: details.customer, to: request)
        return .jsonObject(capacity: 8192) { json in
            json.key("customer")
            json.value(answer)
            json.field("createdAt", details.customer.createdAt)
            json.field("mergedCustomers", details.members) { $0.value($1) }
            json.key("identities")
            // Leaves out the IDs of renewals, order lines and shared purchases. The original transaction IDs already
            // say which purchases the customer has.
            json.array(details.identities.filter { $0.kind < .transactionID }) { $0.value($1) }
            json.field("promises", details.promises) { $0.value($1) }
            json.field("support", details.support) { $0.value($1) }
            json.field("devices", details.devices.count)
            json.field("entitlementTokens", details.devices.reduce(0) { $0 + $1.entitlementTokens })
            json.field("artifacts", details.artifacts.count)
        }
    }

    /// `DELETE /v1/admin/customers/{id}`: responds with the number of removed rows of each kind.
    @Sendable func erase(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.pathID()
        let holder = try await keys.holder(of: request, context, needing: .erase, on: id)
        let outcome = try await changes.perform(
            .erase, on: .publicID(id), by: holder, reason: try request.reason(), request, context)
        guard case .erased(let counts) = outcome else { throw Problem.unexpectedOutcome }
        return .jsonObject { json in
            json.field("erased", id)
            json.field("removed", counts)
        }
    }

    /// `GET /v1/admin/customers/{id}/timeline?after=…&limit=…`: what happened to the customer, oldest first. `after` is
    /// the number of entries to skip.
    @Sendable func timeline(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.pathID()
        _ = try await keys.holder(of: request, context, needing: .read, on: id)
        let size = try request.pageSize()
        let after = request.uri.queryParameters["after"] ?? "0"
        guard let start = Int(after), (0...Int(Int32.max)).contains(start) else {
            throw Problem(.malformedRequest, "`after` must be the `next` of the previous page")
        }
        let entries = try await customers.details(id).timeline
        let page = entries.dropFirst(start).prefix(size)
        var json = JSONWriter(capacity: 8192)
        json.page("entries", of: Array(page), next: page.endIndex < entries.count ? Int64(page.endIndex) : nil) {
            $0.value($1)
        }
        return .json(json)
    }

    /// `GET /v1/admin/customers/{id}/export?unboundAfter=…`: everything stored about a customer, with each artifact
    /// exactly as it was received.
    ///
    /// This includes unbound customers with the IDs of this customer: sets of artifacts that came without proof that
    /// they belong to the sender. Only the unbound customers come in pages. Each page repeats all other data.
    @Sendable func export(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.pathID()
        let holder = try await keys.holder(of: request, context, needing: .export, on: id)
        let now = customers.now()
        let unboundAfter = try request.position("unboundAfter", from: "nextUnbound") ?? 0
        let details = try await customers.details(
            id, with: [.bytes, .unbound, .audit], unboundAfter: unboundAfter)
        let entry = AuditEntry(
            at: now, actor: holder.name, action: "export", customer: details.customer.publicID,
            detail: try request.reason().map { ["reason": $0] } ?? [:])
        try await customers.store.write { try $0.audit(entry) }
        let answer = try await customers.answer(for: details.customer, to: request)
        return .jsonObject(capacity: 1 << 16) { json in
            json.field("exportedAt", now)
            json.key("customer")
            json.value(answer)
            json.key("data")
            json.value(details)
            json.field("nextUnbound", orNull: details.nextUnbound)
        }
    }
}

extension JSONWriter {
    /// Writes everything that is stored about a customer, for an export.
    fileprivate mutating func value(_ details: CustomerDetails) {
        object { json in
            json.field("mergedCustomers", details.members) { $0.value($1) }
            // Leaves out identities of shared purchases: they only serve to find the customer, and the transactions of
            // these purchases are among the artifacts.
            json.field("identities", details.identities.filter { $0.kind != .sharedPurchase }) { $0.value($1) }
            json.field("artifacts", details.artifacts) { $0.value($1) }
            json.field("notifications", details.notifications) { $0.value($1) }
            json.field("promises", details.promises) { $0.value($1) }
            json.field("support", details.support) { $0.value($1) }
            json.field("events", details.events) { $0.value($1) }
            json.field("devices", details.devices) { $0.value($1) }
            json.field("trialSessions", details.trialSessions) { $0.value($1) }
            json.field("audit", details.audit) { $0.value($1) }
            json.field("unboundCustomers", details.unbound) { $0.value($1) }
        }
    }
}
