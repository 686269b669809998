import Foundation
import Hummingbird
import Logging
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore

extension AdminDesk {
    func addPolicyRoutes(to router: Router<ServiceContext>) {
        router.get("v1/admin/policies", use: listPolicies)
        router.post("v1/admin/policies", use: publish)
        router.get("v1/admin/policies/:version", use: showPolicy)
        router.post("v1/admin/policies/rehearsals", use: rehearse)
        router.get("v1/admin/policies/rehearsals/:id", use: showRehearsal)
        router.post("v1/admin/policies/rollback", use: rollBack)
    }

    private var publisher: PolicyPublisher {
        PolicyPublisher(store: store, policies: policies, bundleID: personas.bundleID, now: now)
    }

    /// `GET /v1/admin/policies`: every version, and when each began to decide.
    @Sendable func listPolicies(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await gate.holder(of: request, context, needing: .policies)
        try await policies.refreshNow()
        let present = policies.currentVersion
        return try respond(
            PoliciesAnswer(
                versions: try await store.read { try $0.policies() }.map {
                    PolicyVersionAnswer($0, isCurrent: $0.version == present)
                },
                publications: try await store.read { try $0.publications() }.map(PublicationAnswer.init)))
    }

    /// `GET /v1/admin/policies/{version}`: with the policy itself.
    @Sendable func showPolicy(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await gate.holder(of: request, context, needing: .policies)
        let text = try parameter("version", in: context)
        try await policies.refreshNow()
        guard let version = Int64(text), "\(version)" == text,
            let recorded = try await store.read({ try $0.policies() }).first(where: { $0.version == version })
        else { throw Problem(.notFound, "there is no version `\(text.prefix(64))`") }
        return try respond(
            PolicyVersionAnswer(
                recorded, isCurrent: version == policies.currentVersion,
                policy: String(decoding: recorded.compiled, as: UTF8.self)))
    }

    /// `POST /v1/admin/policies/rehearsals`: what a policy, or going back to a version, would do to everybody.
    @Sendable func rehearse(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let holder = try await gate.holder(of: request, context, needing: .policies)
        let body = try await request.decoded(RehearseRequest.self, upTo: limits.bodySize, in: context)
        let candidate: PolicyPublisher.Candidate
        switch (body.policy, body.version) {
        case (let text?, nil): candidate = try publisher.candidate(text)
        case (nil, let version): candidate = try await publisher.candidate(returningTo: version)
        default: throw Problem(.malformedRequest, "send either `policy` or `version`")
        }
        return try respond(try await publisher.rehearse(candidate, by: holder.name))
    }

    /// `GET /v1/admin/policies/rehearsals/{id}`: what was found then.
    @Sendable func showRehearsal(_ request: Request, _ context: ServiceContext) async throws -> Response {
        _ = try await gate.holder(of: request, context, needing: .policies)
        let id = try publicID(in: context)
        guard let rehearsal = try await store.read({ try $0.rehearsal(id) }) else {
            throw Problem(.notFound, "there is no rehearsal `\(id)`")
        }
        return .json(rehearsal.report)
    }

    /// `POST /v1/admin/policies`
    @Sendable func publish(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let holder = try await gate.holder(of: request, context, needing: .publish)
        let body = try await publishRequest(request, context)
        guard let text = body.policy, body.version == nil else {
            throw Problem(.malformedRequest, "send the `policy`; to go back to a version there is `/rollback`")
        }
        return try await carryOut(try publisher.candidate(text), body, by: holder, context)
    }

    /// `POST /v1/admin/policies/rollback`: an older version decides again.
    @Sendable func rollBack(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let holder = try await gate.holder(of: request, context, needing: .publish)
        let body = try await publishRequest(request, context)
        guard body.policy == nil else {
            throw Problem(.malformedRequest, "a rollback names a `version`; a `policy` is published")
        }
        return try await carryOut(
            try await publisher.candidate(returningTo: body.version), body, by: holder, context)
    }

    // MARK: Parts

    private func publishRequest(_ request: Request, _ context: ServiceContext) async throws -> PublishRequest {
        var body = try await request.decoded(PublishRequest.self, upTo: limits.bodySize, in: context)
        body.reason = try reason(body.reason)
        if let author = body.author { body.author = try id(author, "author") }
        return body
    }

    private func carryOut(
        _ candidate: PolicyPublisher.Candidate, _ body: PublishRequest, by holder: KeyHolder, _ context: ServiceContext
    ) async throws -> Response {
        let publication = try await publisher.publish(candidate, as: body, by: holder.name)
        context.logger.info(
            "published",
            metadata: [
                "action": "\(publication.action.rawValue)", "version": "\(publication.version)",
                "key": "\(holder.name)",
                "losing": "\(publication.counts.losing)", "ended": "\(publication.counts.ended)",
            ])
        return try respond(PublicationAnswer(publication))
    }

    private func respond(_ answer: some Encodable) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .json([UInt8](try encoder.encode(answer)))
    }
}

extension PolicyVersionAnswer {
    fileprivate init(_ recorded: StoredPolicy, isCurrent: Bool, policy: String? = nil) {
        self.init(
            version: recorded.version,
            sha256: recorded.sha256.hexadecimal,
            recordedAt: recorded.recordedAt.rfc3339, isCurrent: isCurrent, policy: policy)
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
