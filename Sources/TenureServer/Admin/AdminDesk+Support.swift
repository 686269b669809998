import Foundation
import Hummingbird
import TenureAPI
import TenureCore
import TenureStore

extension AdminDesk {
    /// `POST /v1/admin/customers/{id}/grants`
    @Sendable func grant(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        let holder = try await gate.holder(of: request, context, needing: .support, on: id)
        let body = try await request.decoded(GrantRequest.self, upTo: limits.bodySize, in: context)
        let reason = try reason(body.reason)
        if let until = body.until, until <= now() {
            throw Problem(.malformedRequest, "`until` lies in the past")
        }
        try await check(entitlement: body.entitlement, of: id)
        return try await answer(
            perform(
                .grant(entitlement: body.entitlement, until: body.until), on: .publicID(id), by: holder,
                reason: reason, request, context), to: request)
    }

    /// `POST /v1/admin/customers/{id}/revocations`
    @Sendable func revoke(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        let holder = try await gate.holder(of: request, context, needing: .support, on: id)
        let body = try await request.decoded(RevocationRequest.self, upTo: limits.bodySize, in: context)
        let reason = try reason(body.reason)
        try await check(entitlement: body.entitlement, of: id)
        return try await answer(
            perform(
                .revoke(entitlement: body.entitlement), on: .publicID(id), by: holder, reason: reason, request,
                context), to: request)
    }

    /// One of the policy, or one that this customer was once promised under a name that the policy no longer has.
    private func check(entitlement: String, of id: String) async throws {
        try await policies.refresh()
        guard policies.current.entitlement(named: entitlement) == nil else { return }
        let customer = try await store.read { try $0.customer(named: id) }
        guard customer?.facts.promises.contains(where: { $0.entitlement == entitlement }) == true else {
            throw Problem(
                .malformedRequest,
                """
                the policy has no such entitlement; it has \
                \(policies.current.entitlements.map { "`\($0.name)`" }.joined(separator: ", "))
                """)
        }
    }
}
