import Hummingbird
import Logging
import TenureAPI
import TenureJSON
import TenureStore

/// The routes about the policy: its versions, publications, rollbacks and rehearsals. A rehearsal is a dry run of a
/// publication over all customers.
struct PolicyHandlers: Sendable {
    let store: Store
    let policies: ActivePolicy
    let publisher: PolicyPublisher

    /// `GET /v1/admin/policies`: all versions and publications.
    @Sendable func list(_ call: AdminCall) async throws -> Response {
        try await policies.refreshNow()
        let current = policies.currentVersion
        return try .encoded(
            PoliciesAnswer(
                versions: try await store.read { try $0.policies() }.map {
                    PolicyVersionAnswer($0, isCurrent: $0.version == current)
                },
                publications: try await store.read { try $0.publications() }.map(PublicationAnswer.init)))
    }

    /// `GET /v1/admin/policies/{version}`: one version, with the policy itself.
    @Sendable func show(_ call: AdminCall) async throws -> Response {
        let text = try call.context.pathID("version")
        try await policies.refreshNow()
        // Other spellings of a number, such as `01`, name no version.
        guard let version = Int64(text), "\(version)" == text,
            let stored = try await store.read({ try $0.policies() }).first(where: { $0.version == version })
        else {
            throw Problem(
                .notFound,
                "the policy has no version `\(text.prefix(64))`; list the versions with `GET /v1/admin/policies`")
        }
        return try .encoded(
            PolicyVersionAnswer(
                stored, isCurrent: version == policies.currentVersion,
                policy: String(decoding: stored.compiled, as: UTF8.self)))
    }

    /// `POST /v1/admin/policies/rehearsals`: reports what publishing a policy, or a rollback to a version (by default
    /// the previous version), would change for all customers.
    @Sendable func rehearse(_ call: AdminCall) async throws -> Response {
        let body = try await call.body(RehearseRequest.self)
        let candidate: PolicyPublisher.Candidate
        switch (body.policy, body.version) {
        case (let text?, nil): candidate = try publisher.candidate(text)
        case (nil, let version): candidate = try await publisher.candidate(returningTo: version)
        default: throw Problem(.malformedRequest, "send either `policy` or `version`")
        }
        return try .encoded(try await publisher.rehearse(candidate, by: call.actor))
    }

    /// `GET /v1/admin/policies/rehearsals/{id}`: the stored report of a rehearsal.
    @Sendable func showRehearsal(_ call: AdminCall) async throws -> Response {
        let id = try call.context.pathID()
        guard let rehearsal = try await store.read({ try $0.rehearsal(id) }) else {
            throw Problem(.notFound, "there is no rehearsal `\(id)`; rehearse the policy again")
        }
        return .json(rehearsal.report)
    }

    /// `POST /v1/admin/policies`: publishes a policy.
    @Sendable func publish(_ call: AdminCall) async throws -> Response {
        let body = try await publishRequest(call)
        guard let text = body.policy, body.version == nil else {
            throw Problem(
                .malformedRequest,
                "send `policy`, and no `version`; use `/v1/admin/policies/rollback` to go back to a version")
        }
        return try await respond(publishing: try publisher.candidate(text), body, call)
    }

    /// `POST /v1/admin/policies/rollback`: makes the requested version current, by default the previous version.
    @Sendable func rollBack(_ call: AdminCall) async throws -> Response {
        let body = try await publishRequest(call)
        guard body.policy == nil else {
            throw Problem(
                .malformedRequest, "send no `policy` with a rollback; use `POST /v1/admin/policies` to publish one")
        }
        return try await respond(publishing: try await publisher.candidate(returningTo: body.version), body, call)
    }

    /// Reads the body of a publication or rollback, and checks its reason and author.
    private func publishRequest(_ call: AdminCall) async throws -> PublishRequest {
        var body = try await call.body(PublishRequest.self)
        body.reason = try AdminParameter.reason(body.reason)
        if let author = body.author { body.author = try AdminParameter.id(author, "author") }
        return body
    }

    /// Publishes a policy or a rollback. Logs the publication, and responds with it.
    private func respond(
        publishing candidate: PolicyPublisher.Candidate, _ body: PublishRequest, _ call: AdminCall
    ) async throws -> Response {
        let publication = try await publisher.publish(candidate, as: body, by: call.actor, logger: call.context.logger)
        call.context.logger.info(
            "published a policy",
            metadata: [
                "action": "\(publication.action.rawValue)", "version": "\(publication.version)",
                "key": "\(call.actor)", "losing": "\(publication.counts.losing)",
                "ended": "\(publication.counts.ended)",
            ])
        return try .encoded(PublicationAnswer(publication))
    }
}

extension PolicyVersionAnswer {
    fileprivate init(_ stored: StoredPolicy, isCurrent: Bool, policy: String? = nil) {
        self.init(
            version: stored.version, sha256: stored.sha256.hexadecimal, recordedAt: stored.recordedAt.rfc3339,
            isCurrent: isCurrent, policy: policy)
    }
}

extension PublicationAnswer {
    fileprivate init(_ publication: StoredPublication) {
        let counts = publication.counts
        self.init(
            publication: publication.id, version: publication.version, action: publication.action.rawValue,
            at: publication.at.rfc3339, actor: publication.actor, author: publication.author,
            reason: publication.reason, rehearsal: publication.rehearsal, customers: counts.customers,
            gaining: counts.gaining, losing: counts.losing, ended: counts.ended, restored: counts.restored)
    }
}
