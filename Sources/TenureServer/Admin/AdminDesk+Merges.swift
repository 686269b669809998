import Foundation
import Hummingbird
import TenureAPI
import TenureStore

extension AdminDesk {
    /// `POST /v1/admin/customers/{id}/merges`
    @Sendable func merge(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        let holder = try await gate.holder(of: request, context, needing: .merge, on: id)
        let body = try await request.decoded(MergeRequest.self, upTo: limits.bodySize, in: context)
        return try await answer(
            perform(
                .merge(other: try self.id(body.other, "other")), on: .publicID(id), by: holder,
                reason: try reason(body.reason), request, context), to: request)
    }

    /// `DELETE /v1/admin/customers/{id}/merges/{other}`: both have again what each of them brought.
    @Sendable func unmerge(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try publicID(in: context)
        let holder = try await gate.holder(of: request, context, needing: .merge, on: id)
        let other = try parameter("other", in: context)
        return try await answer(
            perform(
                .unmerge(other: other), on: .publicID(id), by: holder, reason: try reason(of: request), request,
                context), to: request)
    }
}
