import Foundation
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// Signed bytes in; verified, related, recorded and decided; what the customer may use out.
///
/// By reference: every sync captures it, and cores that count the same references wait for each other.
final class SyncService: Sendable {
    let verifier: AppStoreVerifier
    let store: any Store
    let policies: PolicyBook
    let signingKeys: SigningKeys
    let accessTokenKey: AccessTokenKey
    let terms: ServiceConfiguration.Terms
    let bundleID: String
    /// Nil where nobody listens.
    let announcer: Announcer?
    /// More devices of one acquisition are worth a look.
    let deviceLimit: Int
    /// Whether the history of whom it meets for the first time is asked for.
    let asksAppStore: Bool
    let personas: PersonaBook

    init(
        verifier: AppStoreVerifier, store: any Store, policies: PolicyBook, signingKeys: SigningKeys,
        accessTokenKey: AccessTokenKey, terms: ServiceConfiguration.Terms, bundleID: String, announcer: Announcer?,
        deviceLimit: Int, asksAppStore: Bool, personas: PersonaBook
    ) {
        self.verifier = verifier
        self.store = store
        self.policies = policies
        self.signingKeys = signingKeys
        self.accessTokenKey = accessTokenKey
        self.terms = terms
        self.bundleID = bundleID
        self.announcer = announcer
        self.deviceLimit = deviceLimit
        self.asksAppStore = asksAppStore
        self.personas = personas
    }

    func sync(_ request: SyncRequest, on device: ClaimedDevice, now: Date, logger: Logger) async throws
        -> CustomerAnswer
    {
        let submission = await Submission(request, on: device, by: verifier, now: now)
        let membership = Membership(of: submission)
        var offered = try await personas.answer(to: request.persona, at: now)
        guard let realm = submission.realm, !membership.artifacts.isEmpty else {
            throw Self.nothingVerified(
                membership.faults + offered.faults, mayCountLater: submission.mayCountLater)
        }
        offered = offered.beside(realm.environment)
        let (customer, outcome) = try await store.amend(
            membership.identities, in: realm, at: now, adding: submission.size,
            adopting: { membership.mayBelong(to: $0) },
            { [self] known in change(known, by: submission, alone: membership, now: now) })
        let recorded = try outcome.get()
        let isBound = membership.isBound
        let (opened, result) =
            isBound ? (customer, recorded) : try await answerUnbound(submission, membership, in: realm, now: now)
        // The record knows nothing of a persona: they stand in where an answer is given, and nowhere else.
        let persona = offered.persona
        let told = try persona.map { try decide(on: opened, as: $0.persona, now: now) } ?? result
        var answer = CustomerAnswer(opened, evidence: told.evidence, decisions: told.decisions)
        answer.problems = (recorded.faults + offered.faults).problems
        let end = now.addingTimeInterval(isBound ? terms.accessToken : terms.unboundAccessToken)
        let token = AccessToken(
            customer: opened.member, realm: realm, expiresAt: min(end, persona?.expiresAt ?? end),
            persona: persona?.number)
        answer.accessToken = AccessTokenResponse(value: accessTokenKey.text(of: token), expiresAt: token.expiresAt)
        let keys = signingKeys.current
        answer.signingKey = keys.vouchers
        if submission.appTransaction?.isOnDevice == true, let device = submission.hashedDevice,
            keys.period.contains(now)
        {
            let token = EntitlementToken(
                bundleID: bundleID, customer: customer,
                appTransactionID: submission.appTransaction?.payload.appTransactionID,
                device: device, decisions: told.decisions, persona: persona, nonce: request.nonce, terms: terms,
                now: now)
            answer.entitlementToken = try keys.sign(token.claims, type: EntitlementToken.type)
        }
        logger.debug(
            "synced",
            metadata: [
                "environment": "\(realm.environment.rawValue)",
                "counted": "\(recorded.counted)", "refused": "\(recorded.faults.count)", "bound": "\(isBound)",
            ])
        return answer
    }

    private struct Outcome: Sendable {
        var evidence: Evidence
        var decisions: [Decision]
        let faults: [Fault]
        let counted: Int
    }

    private func decide(on customer: Customer, as persona: Persona, now: Date) throws(Problem) -> Outcome {
        let evidence = customer.evidence(as: persona)
        return Outcome(
            evidence: evidence, decisions: try policies.decide(customer.facts, evidence, at: now), faults: [],
            counted: 0)
    }

    /// What the sync adds to a customer, who stays as they are until it is written.
    ///
    /// Whoever shows what they may have found learns nothing of the record, and it never learns from them what the
    /// customer does not have: the artifacts are kept, and the answer is of them alone.
    private func change(
        _ known: Customer?, by submission: Submission, alone: Membership, now: Date
    ) -> (Amendment, Result<Outcome, Problem>) {
        let membership = alone.isBound && known != nil ? Membership(of: submission, known: known) : alone
        var amendment = Amendment(of: known)
        amendment.add(
            membership.artifacts, proving: membership.proofs, purchases: membership.purchases,
            renewals: membership.renewals)
        amendment.identify(by: membership.identities + membership.names.forPeople(beyond: known))
        if alone.isBound, let device = submission.hashedDevice {
            amendment.see(
                DeviceSighting(
                    device: device, getsCertificate: submission.appTransaction?.isOnDevice == true,
                    limit: deviceLimit))
        }
        if membership.isComplete, alone.isBound { amendment.completePurchases() }
        // Not for finders. A customer of whom only they, or a notification, told is met with their own first device.
        if asksAppStore, alone.isBound, submission.realm?.environment != .xcode {
            if known == nil {
                amendment.jobs.insert(.history)
            } else if known?.facts.purchasesAreComplete != true {
                amendment.jobsForNewDevice.insert(.history)
            }
        }
        let environment = submission.realm?.environment ?? .production
        do {
            let (evidence, decisions) = try policies.decide(&amendment, in: environment, at: now)
            amendment.announcement =
                try announcer?.announcement(of: known, decisions: decisions, at: now) ?? .later
            return (
                amendment,
                .success(
                    Outcome(
                        evidence: evidence, decisions: decisions, faults: membership.faults,
                        counted: membership.artifacts.count))
            )
        } catch {
            return (amendment, .failure(error))
        }
    }

    /// Signed artifacts circulate: without proof that they are the sender's, they get a record of their own, and an answer
    /// of these very artifacts, less what is known against them. Of the customer's rights only the promises for the
    /// acquisition shown count.
    private func answerUnbound(
        _ submission: Submission, _ membership: Membership, in realm: Realm, now: Date
    ) async throws -> (Customer, Outcome) {
        let visit = membership.visit(leading: submission)
        var amendment = Amendment(of: nil)
        // Nobody is told of it.
        amendment.announcement = .never
        amendment.add(
            membership.artifacts, proving: membership.proofs, purchases: membership.purchases,
            renewals: membership.renewals)
        if membership.isComplete { amendment.completePurchases() }
        let found = try await store.recordUnbound(visit, naming: membership.identities, in: realm, at: now, amendment)
        guard let customer = found?.limited else {
            throw Problem(.busy, "the customer was erased just now; send it again", retryAfter: 1)
        }
        let evidence = customer.evidence
        let decisions = try policies.decide(customer.facts, evidence, at: now)
        return (customer, Outcome(evidence: evidence, decisions: decisions, faults: [], counted: 0))
    }

    private static func nothingVerified(_ faults: [Fault], mayCountLater: Bool) -> Problem {
        if mayCountLater {
            return Problem(
                .tooManyUnknownSigners, "too many artifacts with unknown signers came in a short time; send them again",
                problems: faults.problems, retryAfter: 5)
        }
        let detail =
            faults.isEmpty
            ? "the request holds no artifact; send `appTransaction`, `receipt` or `transactions`"
            : "no artifact that could stand for a customer was verified"
        return Problem(.nothingVerified, detail, problems: faults.problems)
    }
}

extension CustomerAnswer {
    init(_ customer: Customer, evidence: Evidence, decisions: [Decision]) {
        self.init(
            id: customer.publicID, bound: !customer.facts.isUnbound, environment: customer.realm.environment,
            isTest: customer.realm.isTest,
            decisions: decisions, purchases: evidence.purchases,
            purchasesAreComplete: evidence.purchasesAreComplete, persona: evidence.persona?.name)
    }
}
