import Hummingbird
import TenureAPI
import TenureStore

/// The routes that merge customers who are the same person, and undo such merges.
struct MergeHandlers: Sendable {
    let keys: AdminKeyCheck
    let changes: CustomerChanges
    let bodySize: Int

    /// `POST /v1/admin/customers/{id}/merges`: merges another customer into this one.
    @Sendable func merge(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.pathID()
        let holder = try await keys.holder(of: request, context, needing: .merge, on: id)
        let body = try await request.decoded(MergeRequest.self, upTo: bodySize, in: context)
        let other = try AdminParameter.id(body.other, "other")
        return try await changes.respond(
            to: request, context, performing: .merge(other: other), on: id, by: holder,
            reason: try AdminParameter.reason(body.reason))
    }

    /// `DELETE /v1/admin/customers/{id}/merges/{other}`: undoes a merge. Each customer gets back the artifacts from
    /// before the merge.
    @Sendable func unmerge(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try context.pathID()
        let holder = try await keys.holder(of: request, context, needing: .merge, on: id)
        let other = try context.pathID("other")
        return try await changes.respond(
            to: request, context, performing: .unmerge(other: other), on: id, by: holder,
            reason: try request.reason())
    }
}

/// The body of `POST /v1/admin/customers/{id}/merges`.
struct MergeRequest: AdminRequest {
    /// The public ID of the other customer.
    let other: String
    /// Why support merges the customers, for the audit trail.
    let reason: String

    enum CodingKeys: String, CodingKey, CaseIterable {
        case other, reason
    }
}
