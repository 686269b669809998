import Foundation
import Logging
import TenureAPI
import TenureCore
import TenurePolicyFile
import TenurePolicyLint
import TenureRehearsal
import TenureStore

/// Rehearses policies (a dry run over all customers), publishes them, and rolls back to earlier versions. After the
/// first start, no other code changes the policy in effect.
///
/// A request to publish says how many customers may lose something (`takeFrom`) and how many may gain something
/// (`giveTo`). For example, a rehearsal finds that 12 of 50,000 customers would lose `cloud`, and the developer accepts
/// that:
///
/// 1. The request has `takeFrom: 12` and the rehearsal's ID. `PublicationCheck` compares both with the stored
///    rehearsal.
/// 2. The linter looks for errors.
/// 3. All 50,000 customers are evaluated, which takes a while. If 13 would lose something now, the publication is
///    refused.
/// 4. The customers who changed meanwhile are evaluated again, until at most 200 are left.
/// 5. One transaction evaluates these 200 while no other transaction writes, and puts the policy into effect.
/// 6. Promises of rights that customers lose are ended, for a few customers at a time. (A promise is a right that an
///    earlier version gave, stored for the customer.) A rollback also restores promises that later publications ended.
///
/// Only a rollback may give something to any number of customers.
struct PolicyPublisher: Sendable {
    let store: Store
    let policies: ActivePolicy
    /// The app that policies must be for.
    let bundleID: String
    /// The current time, which a test may set.
    let now: @Sendable () -> Date

    /// A policy to rehearse or publish, and its source.
    struct Candidate: Sendable {
        let policy: Policy
        /// The policy's bytes, as they were sent or as the database has them.
        let source: [UInt8]
        /// Whether the policy is published as a new policy or as a rollback.
        let action: StoredPublication.Action
        /// The number of the publication to which a rollback returns; nil for a new policy. The rollback restores the
        /// promises that later publications ended.
        let restoringAfter: Int64?
    }

    // MARK: Candidates

    /// Reads the text of a policy. Throws a problem if the policy is for another app or has mistakes. The problem lists
    /// all mistakes.
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
                """
                the policy is for the app `\(policy.app.bundleID)`, but this service is for `\(bundleID)`; send a policy \
                for this app
                """)
        }
        return Candidate(policy: policy, source: Array(text.utf8), action: .publish, restoringAfter: nil)
    }

    /// Returns an older version for a rollback. If `version` is nil, returns the last version that was in effect before
    /// the current one. Throws `notFound` if there is no such version.
    func candidate(returningTo version: Int64?) async throws -> Candidate {
        try await policies.refreshNow()
        let inEffect = policies.inEffect
        let earlier = try await store.read { try $0.publications() }.filter { $0.id < inEffect.publication }
        let lastOther = earlier.last { $0.version != inEffect.version }
        let target = if let version { earlier.last { $0.version == version } } else { lastOther }
        guard let target,
            let stored = try await store.read({ try $0.policies() }).first(where: { $0.version == target.version })
        else {
            throw Problem(
                .notFound,
                version.map { "version \($0) was never in effect before; `GET /v1/admin/policies` lists the versions" }
                    ?? "no other version was in effect before, so a rollback isn't possible")
        }
        return Candidate(
            policy: try stored.read(), source: stored.compiled, action: .rollback, restoringAfter: target.id)
    }

    // MARK: Rehearsing and publishing

    /// Rehearses a policy and stores the report, because a publication has to refer to it.
    func rehearse(_ candidate: Candidate, by actor: String) async throws -> RehearsalAnswer {
        let inEffect = try await finishPublicationInEffect()
        let now = now()
        let rehearser = rehearser(of: candidate, replacing: inEffect, keepingPromises: false, at: now)
        let tally = try await policies.upToDate { try await rehearser.rehearse().tally }
        return try await storeRehearsal(tally, of: candidate, against: inEffect, by: actor, at: now)
    }

    /// Publishes a policy, if the request allows as many customers to lose and gain something as the policy affects.
    ///
    /// Throws a problem if the request allows fewer customers, if the policy has errors or is in effect already, or if
    /// another policy was published meanwhile. The audit trail gets two kinds of refusals: because the policy has
    /// errors, and because the evaluation of all customers finds more than the request allows.
    func publish(
        _ candidate: Candidate, as request: PublishRequest, by actor: String, logger: Logger
    ) async throws -> StoredPublication {
        let inEffect = try await finishPublicationInEffect()
        let compiled = PolicyFile.compile(candidate.policy)
        let sha256 = ActivePolicy.digest(of: compiled)
        guard sha256 != inEffect.sha256 else {
            throw PublicationCheck.Refusal.alreadyCurrent.problem(
                "this policy is already in effect, as version \(inEffect.version)")
        }

        // First check what can be checked without evaluating customers.
        let check = PublicationCheck(store: store, candidate: candidate, request: request, actor: actor)
        try await check.checkRehearsal(of: sha256, against: inEffect)
        // A rollback is allowed even if the linter finds errors in the older policy.
        let errors =
            candidate.action == .rollback
            ? [] : Self.linted(candidate, replacing: inEffect, at: now()).filter(\.blocksPublication)
        try await check.refuse(errors.filter { !$0.isLossOfRights }, at: now())

        // Then evaluate all customers. If more of them lose or gain something than the request allows, the refusal
        // refers to this new rehearsal.
        for _ in 0..<3 {
            let now = now()
            let rehearser = rehearser(of: candidate, replacing: inEffect, keepingPromises: check.keepsPromises, at: now)
            let (tally, evaluation) = try await policies.upToDate { try await rehearser.rehearse() }
            let losing = check.keepsPromises ? tally.losingWithPromises : tally.losing
            if let refusal = check.refusal(losing: losing, gaining: tally.gaining) {
                let rehearsal = try await storeRehearsal(tally, of: candidate, against: inEffect, by: actor, at: now)
                throw try await check.recordRefusal(refusal, basedOn: rehearsal, at: now)
            }
            // `takeFrom` accepts errors about lost rights. They are checked last, because a refusal with numbers says
            // more.
            if (request.takeFrom ?? 0) == 0 { try await check.refuse(errors, at: now) }
            let requested = RequestedPublication(
                compiled: compiled, sha256: sha256, action: candidate.action, at: now, actor: actor,
                author: request.author, reason: request.reason, rehearsal: request.rehearsal,
                base: inEffect.publication, restoringAfter: candidate.restoringAfter,
                lossAllowance: request.takeFrom ?? 0,
                gainAllowance: check.gainAllowance, endsPromises: request.takeFrom != nil && !check.keepsPromises)
            switch try await publish(requested, after: evaluation, by: rehearser) {
            case .published(let publication):
                try await policies.refreshNow()
                await finishPublication(logger: logger)
                return publication
            case .overtaken:
                throw PublicationCheck.Refusal.overtaken.problem(
                    "another policy was published in the meantime; rehearse your policy against that policy")
            // With the customers who are new or changed since the evaluation, more customers lose or gain something
            // than allowed. The next round evaluates all customers again and, if that is still so, refuses the
            // publication.
            case .tooManyLosing, .tooManyGaining: continue
            case .behind: throw Self.busy
            }
        }
        throw Self.busy
    }

    /// Ends and restores promises as the publication that just took effect requires. If this fails, `LeftoverRemoval`
    /// tries again.
    private func finishPublication(logger: Logger) async {
        do {
            try await store.finishPublication(at: now())
        } catch {
            logger.error(
                "a publication took effect, but some promises aren't ended or restored yet; trying again",
                metadata: ["detail": "\(error)"])
        }
    }

    /// Completes the publication of the policy in effect, if a process stopped before it had ended and restored all
    /// promises. Returns the policy in effect.
    private func finishPublicationInEffect() async throws -> ActivePolicy.InEffect {
        try await policies.refreshNow()
        try await store.finishPublication(at: now())
        return policies.inEffect
    }

    private static let busy = Problem(
        .busy, "too many customers changed while the policy was published; try again", retryAfter: 1)

    /// Evaluates the customers who changed since `evaluation`, again and again until few customers are left, and
    /// publishes the policy. The transaction that publishes evaluates these few customers while no other transaction
    /// writes. Returns `behind` if too many customers change.
    private func publish(
        _ request: RequestedPublication, after evaluation: PublicationEvaluation, by rehearser: PolicyRehearser
    ) async throws -> PublicationOutcome {
        var evaluation = evaluation
        for _ in 0..<Self.maximumAttempts {
            evaluation = try await policies.upToDate { try await rehearser.catchUp(evaluation) }
            if request.endsPromises { evaluation = try await store.markPromises(of: evaluation, at: request.at) }
            let outcome = try await store.publish(
                request, after: evaluation, limit: PolicyRehearser.maximumInPublication
            ) { subject throws(StoreError) in
                // A promise may refer to a version that another process published in the meantime.
                guard let impact = try? rehearser.evaluate(subject).impact else { throw .policyChanged }
                return impact
            }
            guard case .behind = outcome else { return outcome }
        }
        return .behind
    }

    private static let maximumAttempts = 10

    // MARK: Shared steps

    private func rehearser(
        of candidate: Candidate, replacing inEffect: ActivePolicy.InEffect, keepingPromises: Bool, at now: Date
    ) -> PolicyRehearser {
        PolicyRehearser(
            store: store, policies: policies,
            comparison: Comparison(of: candidate.policy, against: inEffect.policy, at: now),
            restoringAfter: candidate.restoringAfter, keepsPromises: keepingPromises)
    }

    /// Stores the report of a rehearsal, so that a publication can refer to it, and returns it.
    private func storeRehearsal(
        _ tally: Tally, of candidate: Candidate, against inEffect: ActivePolicy.InEffect, by actor: String, at now: Date
    ) async throws -> RehearsalAnswer {
        let answer = RehearsalAnswer(
            tally, linted: Self.linted(candidate, replacing: inEffect, at: now), id: PublicID.rehearsal.random(),
            against: inEffect.version, at: now)
        // The keys of the report are sorted, so that equal reports have equal bytes.
        let rehearsal = StoredRehearsal(
            id: answer.id, base: inEffect.publication, sha256: ActivePolicy.digest(of: candidate.policy), at: now,
            actor: actor, gaining: answer.gaining, losing: answer.losing,
            losingWithPromises: answer.losingWithPromises, report: [UInt8](try JSONEncoder.sorted.encode(answer)))
        try await store.write { try $0.record(rehearsal) }
        return answer
    }

    /// Returns the linter's findings in a policy, compared with the policy in effect.
    private static func linted(
        _ candidate: Candidate, replacing inEffect: ActivePolicy.InEffect, at now: Date
    ) -> [LintFinding] {
        Linter.findings(
            in: PolicyFile.draft(candidate.source, named: "policy"), against: inEffect.policy, at: now)
    }
}
