import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureStore

/// The routes with which support grants and revokes entitlements.
struct SupportHandlers: Sendable {
    let keys: AdminKeyCheck
    let customers: CustomerReader
    let changes: CustomerChanges
    let bodySize: Int

    /// `POST /v1/admin/customers/{id}/grants`: grants an entitlement.
    @Sendable func grant(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.pathID()
        let holder = try await keys.holder(of: request, context, needing: .support, on: id)
        let body = try await request.decoded(GrantRequest.self, upTo: bodySize, in: context)
        let reason = try AdminParameter.reason(body.reason)
        if let until = body.until, until <= customers.now() {
            throw Problem(.malformedRequest, "`until` is in the past; send a date in the future")
        }
        try await check(entitlement: body.entitlement, of: id)
        return try await changes.respond(
            to: request, context, performing: .grant(entitlement: body.entitlement, until: body.until), on: id,
            by: holder, reason: reason)
    }

    /// `POST /v1/admin/customers/{id}/revocations`: revokes an entitlement, even if purchases or promises would grant
    /// it. A promise is a recorded right to an entitlement, which later policy edits can't take.
    @Sendable func revoke(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.pathID()
        let holder = try await keys.holder(of: request, context, needing: .support, on: id)
        let body = try await request.decoded(RevocationRequest.self, upTo: bodySize, in: context)
        let reason = try AdminParameter.reason(body.reason)
        try await check(entitlement: body.entitlement, of: id)
        return try await changes.respond(
            to: request, context, performing: .revoke(entitlement: body.entitlement), on: id, by: holder,
            reason: reason)
    }

    /// Checks the name of an entitlement. Throws `malformedRequest` if it is neither in the policy nor promised to this
    /// customer. A promise may have a name that the policy no longer has.
    private func check(entitlement: String, of id: String) async throws {
        let policies = customers.policies
        try await policies.refresh()
        guard policies.current.entitlement(named: entitlement) == nil else { return }
        let customer = try await customers.store.read { try $0.customer(named: id) }
        guard customer?.facts.promises.contains(where: { $0.entitlement == entitlement }) == true else {
            throw Problem(
                .malformedRequest,
                """
                the policy doesn't have this entitlement; use one of \
                \(policies.current.entitlements.map { "`\($0.name)`" }.joined(separator: ", "))
                """)
        }
    }
}

/// The body of `POST /v1/admin/customers/{id}/grants`.
struct GrantRequest: AdminRequest {
    let entitlement: String
    /// The reason that the timeline and exports show.
    let reason: String
    /// The end of the grant; nil if the grant is permanent.
    let until: Date?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case entitlement, reason, until
    }
}

/// The body of `POST /v1/admin/customers/{id}/revocations`.
struct RevocationRequest: AdminRequest {
    let entitlement: String
    /// The reason that the timeline and exports show.
    let reason: String

    enum CodingKeys: String, CodingKey, CaseIterable {
        case entitlement, reason
    }
}
