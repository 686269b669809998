import Foundation
import TenureAPI
import TenurePolicyLint
import TenureStore

/// Checks that no more customers lose or gain something by a publication than the request allows, and refuses the
/// publication otherwise. `PolicyPublisher` calls the checks.
struct PublicationCheck: Sendable {
    let store: Store
    let candidate: PolicyPublisher.Candidate
    let request: PublishRequest
    /// The name of the admin key in the request, for the audit trail.
    let actor: String

    /// The reason for refusing a publication. The names are part of the API.
    enum Refusal: String {
        /// The policy is already in effect.
        case alreadyCurrent
        /// Customers would lose something, and the request has no `takeFrom`.
        case takesRights
        /// More customers would lose something than `takeFrom` allows.
        case takesMore
        /// Customers would gain something, and the request has no `giveTo`.
        case givesRights
        /// More customers would gain something than `giveTo` allows.
        case givesMore
        /// The linter finds errors that the policy doesn't acknowledge.
        case policyErrors
        /// The rehearsal in the request counted more customers than `takeFrom` or `giveTo` in the same request allows.
        case otherNumber
        /// The request has the ID of a rehearsal that doesn't exist.
        case unknownRehearsal
        /// The rehearsal was for another policy, or compared it with a policy that isn't in effect.
        case otherRehearsal
        /// Another policy was published in the meantime.
        case overtaken

        /// The response that refuses the publication.
        func problem(_ detail: String) -> Problem { Problem(.conflict, detail, reason: rawValue) }
    }

    /// Whether customers keep the entitlements that earlier versions of the policy promised them, although the new
    /// policy denies them.
    var keepsPromises: Bool { request.keepPromises ?? false }

    /// How many customers may gain something; nil for any number. A rollback has no limit, because its purpose is to
    /// give back what a publication took away.
    var gainAllowance: Int? { candidate.action == .rollback ? nil : request.giveTo ?? 0 }

    /// Checks the rehearsal in the request, before customers are evaluated again. Throws a problem in these cases:
    /// - The rehearsal doesn't exist, was of another policy, or compared it with a policy that isn't in effect.
    /// - The rehearsal counted more customers than `takeFrom` and `giveTo` allow.
    /// - The request has only the rehearsal, or only the numbers, or a number is negative.
    func checkRehearsal(of sha256: [UInt8], against inEffect: ActivePolicy.InEffect) async throws {
        // A request has a rehearsal and one or both of the numbers, or none of these.
        let numbers = [request.takeFrom, request.giveTo].compactMap(\.self)
        guard !numbers.isEmpty || request.rehearsal != nil else { return }
        guard !numbers.isEmpty, let id = request.rehearsal, numbers.allSatisfy({ $0 >= 0 }) else {
            throw Problem(
                .malformedRequest,
                """
                `takeFrom` and `giveTo` must not be negative, and need `rehearsal`, the ID of the rehearsal that counted \
                these customers; `rehearsal` needs one of the two
                """)
        }
        guard let rehearsal = try await store.read({ try $0.rehearsal(id) }) else {
            throw Refusal.unknownRehearsal.problem(
                "there is no rehearsal `\(id.prefix(64))`; rehearse the policy, and send the new ID")
        }
        guard rehearsal.sha256 == sha256, rehearsal.base == inEffect.publication else {
            throw Refusal.otherRehearsal.problem(
                """
                `\(rehearsal.id)` is a rehearsal of another policy, or a comparison with a policy that is no longer in \
                effect; rehearse again
                """)
        }
        // The numbers must not be smaller than the numbers in the rehearsal.
        let losing = keepsPromises ? rehearsal.losingWithPromises : rehearsal.losing
        let limits = [
            ("takeFrom", "--take-from", request.takeFrom, losing, "lose"),
            ("giveTo", "--give-to", request.giveTo, rehearsal.gaining, "gain"),
        ]
        for (field, option, number, rehearsed, verb) in limits {
            guard let number, number < rehearsed else { continue }
            throw Refusal.otherNumber.problem(
                """
                in the rehearsal `\(rehearsal.id)`, the number of customers who \(verb) something is \(rehearsed), \
                more than \(number); to allow that, send \(rehearsed) as `\(field)` (`\(option)`)
                """)
        }
    }

    /// Returns why to refuse a publication by which these numbers of customers lose and gain something. Nil if the
    /// request allows as many.
    func refusal(losing: Int, gaining: Int) -> Refusal? {
        if losing > request.takeFrom ?? 0 { return request.takeFrom == nil ? .takesRights : .takesMore }
        guard let gainAllowance, gaining > gainAllowance else { return nil }
        return request.giveTo == nil ? .givesRights : .givesMore
    }

    /// Refuses a policy with errors: writes the refusal to the audit trail, and throws it. Does nothing without errors.
    func refuse(_ errors: [LintFinding], at now: Date) async throws {
        guard let first = errors.first else { return }
        try await audit(.policyErrors, ["codes": Set(errors.map(\.code)).sorted().joined(separator: " ")], at: now)
        let others = errors.count > 1 ? ", and \(errors.count - 1) more" : ""
        throw Refusal.policyErrors.problem(
            """
            the policy has errors: \(first.message) [\(first.code)]\(others); `tenure policy check --against` shows all \
            errors. Correct the policy, or add the errors to its `acknowledge` with a reason
            """)
    }

    /// Writes the refusal to the audit trail and returns it as a problem.
    func recordRefusal(_ refusal: Refusal, basedOn rehearsal: RehearsalAnswer, at now: Date) async throws -> Problem {
        var detail = [
            "rehearsal": rehearsal.id, "losing": String(rehearsal.losing),
            "losingWithPromises": String(rehearsal.losingWithPromises), "gaining": String(rehearsal.gaining),
        ]
        detail["author"] = request.author
        try await audit(refusal, detail, at: now)
        let gives = refusal == .givesRights || refusal == .givesMore
        return Problem(
            .conflict,
            gives
                ? """
                \(rehearsal.gaining) of \(rehearsal.customers) customers would gain something; to allow that, send \
                \(rehearsal.gaining) as `giveTo` (`--give-to`) and `\(rehearsal.id)` as `rehearsal` (`--rehearsal`)
                """
                : """
                \(rehearsal.losing) of \(rehearsal.customers) customers would lose something, or \
                \(rehearsal.losingWithPromises) with `keepPromises` (`--keep-promises`); to allow that, send this \
                number as `takeFrom` (`--take-from`) and `\(rehearsal.id)` as `rehearsal` (`--rehearsal`)
                """, reason: refusal.rawValue, rehearsal: rehearsal.id)
    }

    /// Writes a refusal to the audit trail.
    private func audit(_ refusal: Refusal, _ detail: [String: String], at now: Date) async throws {
        let detail = detail.merging(["refused": refusal.rawValue, "reason": request.reason]) { $1 }
        let entry = AuditEntry(at: now, actor: actor, action: candidate.action.rawValue, detail: detail)
        try await store.write { try $0.audit(entry) }
    }
}

extension LintFinding {
    /// Whether the finding prevents the publication of the policy.
    var blocksPublication: Bool { severity == .error && !isAcknowledged }

    /// Whether the finding is about rights that existing customers lose. A request to publish acknowledges the loss
    /// with the fields `rehearsal` and `takeFrom`, the number of customers who may lose something.
    var isLossOfRights: Bool { ["right-lost", "right-shortened"].contains(code) }
}
