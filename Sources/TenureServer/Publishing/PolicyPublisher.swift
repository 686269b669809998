import Foundation
import Logging
import TenureAPI
import TenureCore
import TenurePolicyFile
import TenurePolicyLint
import TenureRehearsal
import TenureStore

/// Rehearses policies, publishes them, and rolls back. After the first start, no other code changes the policy in
/// effect.
struct PolicyPublisher: Sendable {
    let store: Store
    let policies: ActivePolicy
    let bundleID: String
    let now: @Sendable () -> Date

    /// A policy to rehearse or publish, and its source.
    struct Candidate: Sendable {
        let policy: Policy
        /// The policy's bytes, as they were sent or as the database has them.
        let source: [UInt8]
        let action: StoredPublication.Action
        /// For a rollback, the publication to which it returns; otherwise nil.
        let restoringAfter: Int64?
    }

    // MARK: Candidates

    /// Reads a policy. Throws a problem that lists every mistake, or that it's another app's policy.
    func candidate(_ text: String) throws(Problem) -> Candidate {
        let policy: Policy
        do {
            policy = try PolicyFile.read(Array(text.utf8), named: "policy")
            // Without this check, the service might be unable to read the stored policy when it starts again.
            _ = try PolicyFile.compileChecked(policy, named: "policy")
        } catch {
            throw Problem(
                .malformedRequest,
                "the policy has mistakes: \(error.mistakes.map(\.description).joined(separator: "; "))")
        }
        guard policy.app.bundleID == bundleID else {
            throw Problem(
                .malformedRequest,
                "the policy is for the app `\(policy.app.bundleID)`, but this service is for `\(bundleID)`")
        }
        return Candidate(policy: policy, source: Array(text.utf8), action: .publish, restoringAfter: nil)
    }

    /// Returns a version that was in effect before; without a version, the last one that differs from the current one.
    func candidate(returningTo version: Int64?) async throws -> Candidate {
        try await policies.refreshNow()
        let present = policies.present
        let earlier = try await store.read { try $0.publications() }.filter { $0.id < present.publication }
        let target = earlier.last { version == nil ? $0.version != present.version : $0.version == version }
        guard let target,
            let recorded = try await store.read({ try $0.policies() }).first(where: { $0.version == target.version })
        else {
            throw Problem(
                .notFound,
                version.map { "version \($0) was never in effect before; `GET /v1/admin/policies` lists the versions" }
                    ?? "no other version was in effect before, so there is nothing to roll back to")
        }
        return Candidate(
            policy: try recorded.read(), source: recorded.compiled, action: .rollback, restoringAfter: target.id)
    }

    // MARK: Rehearsing and publishing

    /// Rehearses a policy and stores the result, because a publication has to refer to it.
    func rehearse(_ candidate: Candidate, by actor: String) async throws -> RehearsalAnswer {
        let present = try await settledPresent()
        let now = now()
        let findings = try await findings(on: candidate, instead: present, keepingPromises: false, at: now)
        return try await keep(findings, of: candidate, against: present, by: actor, at: now)
    }

    func publish(
        _ candidate: Candidate, as request: PublishRequest, by actor: String, logger: Logger
    ) async throws -> StoredPublication {
        let present = try await settledPresent()
        let compiled = PolicyFile.compile(candidate.policy)
        let sha256 = ActivePolicy.digest(of: compiled)
        guard sha256 != present.sha256 else {
            throw Problem(
                .conflict, "this policy is already in effect, as version \(present.version)",
                reason: Refusal.alreadyCurrent.rawValue)
        }
        let keepsPromises = request.keepPromises ?? false
        try await check(request, of: sha256, against: present, keepingPromises: keepsPromises)
        let errors = candidate.action == .rollback ? [] : Self.errors(in: candidate, instead: present, at: now())
        try await refuse(errors.filter { !$0.isLossOfRights }, in: candidate, as: request, by: actor)
        // The purpose of a rollback is to give back what a publication took.
        let gainAllowance = candidate.action == .rollback ? nil : request.giveTo ?? 0
        // If more customers lose or gain by the end than allowed, another rehearsal says which.
        for _ in 0..<3 {
            let now = now()
            let evaluator = evaluator(of: candidate, instead: present, at: now)
            let findings = try await findings(
                on: candidate, instead: present, keepingPromises: keepsPromises, at: now)
            if let refusal = Self.refusal(
                of: request, losing: findings.losing(keepingPromises: keepsPromises), gaining: findings.tally.gaining,
                gainAllowance: gainAllowance)
            {
                let rehearsal = try await keep(findings, of: candidate, against: present, by: actor, at: now)
                throw try await refused(request, candidate, as: refusal, by: actor, rehearsal)
            }
            // Checked after the numbers of customers, which say more if some lose something.
            if request.takeFrom ?? 0 == 0 { try await refuse(errors, in: candidate, as: request, by: actor) }
            let requested = RequestedPublication(
                compiled: compiled, sha256: sha256, action: candidate.action, at: now, actor: actor,
                author: request.author,
                reason: request.reason, rehearsal: request.rehearsal, base: present.publication,
                restoringAfter: candidate.restoringAfter, allowance: request.takeFrom ?? 0,
                gainAllowance: gainAllowance,
                endsPromises: request.takeFrom != nil && !keepsPromises)
            let outcome = try await publish(
                requested, after: findings.survey, by: evaluator, keepingPromises: keepsPromises)
            switch outcome {
            case .published(let publication):
                try await policies.refreshNow()
                await finishPublication(logger: logger)
                return publication
            case .overtaken:
                throw Problem(
                    .conflict, "another policy was published in the meantime; rehearse yours against it",
                    reason: Refusal.overtaken.rawValue)
            // Customers who are new or changed count too. The next rehearsal includes them.
            case .takes, .gives: continue
            case .behind: throw Self.busy
            }
        }
        throw Self.busy
    }

    /// The publication took effect in any case. If this breaks off, `LeftoverRemoval` continues.
    private func finishPublication(logger: Logger) async {
        do {
            try await store.finishPublication(at: now())
        } catch {
            logger.error(
                "a publication took effect, but not all of its promises are ended and restored yet; trying again",
                metadata: ["detail": "\(error)"])
        }
    }

    /// Returns the policy in effect, once its publication has ended and restored all promises.
    private func settledPresent() async throws -> ActivePolicy.Present {
        try await policies.refreshNow()
        try await store.finishPublication(at: now())
        return policies.present
    }

    private static let busy = Problem(
        .busy, "too many customers changed while the policy was published; try again", retryAfter: 1)

    /// Catches up with the customers that changed since the survey, and publishes once few are left: those are evaluated
    /// in the transaction, while no other one writes.
    private func publish(
        _ request: RequestedPublication, after survey: PublicationSurvey, by evaluator: PublicationEvaluator,
        keepingPromises: Bool
    ) async throws -> PublicationOutcome {
        var survey = survey
        for _ in 0..<Self.mostAttempts {
            survey = try await policies.upToDate {
                try await PolicyRehearser(store: store, policies: policies).catchUp(
                    survey, by: evaluator, restoringAfter: request.restoringAfter, keepingPromises: keepingPromises)
            }
            if request.endsPromises { survey = try await store.markPromises(of: survey, at: request.at) }
            let outcome = try await store.publish(
                request, after: survey, limit: PolicyRehearser.mostInPublication
            ) { surveyed throws(StoreError) in
                // A promise may refer to a version that another process published in the meantime.
                guard let result = try? evaluator.result(for: surveyed) else { throw .policyChanged }
                return evaluator.verdict(on: surveyed, result, keepingPromises: keepingPromises)
            }
            guard case .behind = outcome else { return outcome }
        }
        return .behind
    }

    private static let mostAttempts = 10

    // MARK: Parts

    /// The reason for refusing a publication. The names are part of the API.
    enum Refusal: String {
        /// The policy is already in effect.
        case alreadyCurrent
        /// It takes something from customers, and the request doesn't allow that.
        case takesRights
        /// It takes something from more customers than the request allows.
        case takesMore
        /// It gives something to customers, and the request doesn't allow that.
        case givesRights
        /// It gives something to more customers than the request allows.
        case givesMore
        /// The linter finds errors that the policy doesn't acknowledge.
        case policyErrors
        /// The rehearsal found more customers than the request allows.
        case otherNumber
        /// The request names a rehearsal that doesn't exist.
        case unknownRehearsal
        /// The rehearsal was for another policy, or against another one.
        case otherRehearsal
        /// Another policy was published in the meantime.
        case overtaken
    }

    private func evaluator(
        of candidate: Candidate, instead present: ActivePolicy.Present, at now: Date
    ) -> PublicationEvaluator {
        PublicationEvaluator(of: candidate.policy, instead: present.policy, policies: policies, at: now)
    }

    private func findings(
        on candidate: Candidate, instead present: ActivePolicy.Present, keepingPromises: Bool, at now: Date
    ) async throws -> PolicyRehearser.Findings {
        try await policies.upToDate {
            try await PolicyRehearser(store: store, policies: policies).rehearse(
                by: evaluator(of: candidate, instead: present, at: now), restoringAfter: candidate.restoringAfter,
                keepingPromises: keepingPromises)
        }
    }

    private func keep(
        _ findings: PolicyRehearser.Findings, of candidate: Candidate, against present: ActivePolicy.Present,
        by actor: String, at now: Date
    ) async throws -> RehearsalAnswer {
        let answer = RehearsalAnswer(
            findings, linted: Self.linted(candidate, instead: present, at: now), id: PublicID.rehearsal.random(),
            against: present.version, at: now)
        let rehearsal = StoredRehearsal(
            id: answer.id, base: present.publication, sha256: ActivePolicy.digest(of: candidate.policy), at: now,
            actor: actor, gaining: answer.gaining, losing: answer.losing,
            losingWithPromises: answer.losingWithPromises, report: try answer.encoded)
        try await store.write { try $0.record(rehearsal) }
        return answer
    }

    /// Returns the linter's findings in a policy, compared with the one in effect.
    private static func linted(
        _ candidate: Candidate, instead present: ActivePolicy.Present, at now: Date
    ) -> [LintFinding] {
        Linter.findings(
            in: PolicyFile.draft(candidate.source, named: "policy"), against: present.policy, at: now)
    }

    /// The linter's errors that the policy doesn't acknowledge. They don't stop a rollback.
    private static func errors(
        in candidate: Candidate, instead present: ActivePolicy.Present, at now: Date
    ) -> [LintFinding] {
        linted(candidate, instead: present, at: now).filter(\.blocksPublication)
    }

    private func refuse(
        _ errors: [LintFinding], in candidate: Candidate, as request: PublishRequest, by actor: String
    ) async throws {
        guard let first = errors.first else { return }
        let detail = [
            "refused": Refusal.policyErrors.rawValue, "reason": request.reason,
            "codes": Set(errors.map(\.code)).sorted().joined(separator: " "),
        ]
        let entry = AuditEntry(at: now(), actor: actor, action: candidate.action.rawValue, detail: detail)
        try await store.write { try $0.audit(entry) }
        let others = errors.count > 1 ? ", and \(errors.count - 1) more" : ""
        throw Problem(
            .conflict,
            """
            the policy has errors: \(first.message) [\(first.code)]\(others); `tenure policy check --against` shows them all. \
            Correct the policy, or add them to its `acknowledge` with a reason
            """,
            reason: Refusal.policyErrors.rawValue)
    }

    /// Nil if no more customers lose or gain something than the request allows.
    private static func refusal(
        of request: PublishRequest, losing: Int, gaining: Int, gainAllowance: Int?
    ) -> Refusal? {
        if losing > request.takeFrom ?? 0 { return request.takeFrom == nil ? .takesRights : .takesMore }
        guard let gainAllowance, gaining > gainAllowance else { return nil }
        return request.giveTo == nil ? .givesRights : .givesMore
    }

    /// Throws a problem if the request's numbers are smaller than those in its rehearsal, or if that rehearsed another
    /// policy.
    private func check(
        _ request: PublishRequest, of sha256: [UInt8], against present: ActivePolicy.Present, keepingPromises: Bool
    ) async throws {
        let numbers = [request.takeFrom, request.giveTo].compactMap(\.self)
        guard !numbers.isEmpty || request.rehearsal != nil else { return }
        guard !numbers.isEmpty, let id = request.rehearsal, numbers.allSatisfy({ $0 >= 0 }) else {
            throw Problem(
                .malformedRequest,
                """
                `takeFrom` and `giveTo` need `rehearsal`, the ID of the rehearsal that counted these customers, and \
                `rehearsal` needs one of them
                """)
        }
        guard let rehearsal = try await store.read({ try $0.rehearsal(id) }) else {
            throw Problem(
                .conflict, "there is no rehearsal `\(id.prefix(64))`; rehearse the policy, and send the new ID",
                reason: Refusal.unknownRehearsal.rawValue)
        }
        guard rehearsal.sha256 == sha256, rehearsal.base == present.publication else {
            throw Problem(
                .conflict,
                """
                `\(rehearsal.id)` is a rehearsal of another policy, or against one that is no longer in effect; rehearse \
                again
                """,
                reason: Refusal.otherRehearsal.rawValue)
        }
        let losing = keepingPromises ? rehearsal.losingWithPromises : rehearsal.losing
        for (number, found, verb) in [(request.takeFrom, losing, "lose"), (request.giveTo, rehearsal.gaining, "gain")] {
            guard let number, number < found else { continue }
            throw Problem(
                .conflict,
                """
                the rehearsal `\(rehearsal.id)` found \(found) customers who \(verb) something, more than \(number); \
                to allow that, send \(found)
                """,
                reason: Refusal.otherNumber.rawValue)
        }
    }

    /// Writes the refusal to the audit trail and returns it as a problem.
    private func refused(
        _ request: PublishRequest, _ candidate: Candidate, as refusal: Refusal, by actor: String,
        _ rehearsal: RehearsalAnswer
    ) async throws -> Problem {
        var detail = [
            "refused": refusal.rawValue, "rehearsal": rehearsal.id, "reason": request.reason,
            "losing": String(rehearsal.losing), "losingWithPromises": String(rehearsal.losingWithPromises),
            "gaining": String(rehearsal.gaining),
        ]
        detail["author"] = request.author
        let entry = AuditEntry(at: now(), actor: actor, action: candidate.action.rawValue, detail: detail)
        try await store.write { try $0.audit(entry) }
        let held = rehearsal.losing - rehearsal.losingWithPromises
        let gives = refusal == .givesRights || refusal == .givesMore
        return Problem(
            .conflict,
            gives
                ? """
                \(rehearsal.gaining) of \(rehearsal.customers) customers would gain something; to allow it, send their \
                number as `giveTo` and `\(rehearsal.id)` as `rehearsal`
                """
                : """
                \(rehearsal.losing) of \(rehearsal.customers) customers would lose something, \(held) of whom have a \
                promise; keep promises, or to allow it, send their number as `takeFrom` and `\(rehearsal.id)` as \
                `rehearsal`
                """, reason: refusal.rawValue, rehearsal: rehearsal.id)
    }
}
