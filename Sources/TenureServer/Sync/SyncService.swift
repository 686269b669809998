import Foundation
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// Signed bytes in; verified, related, recorded and decided; what the customer may use out.
struct SyncService: Sendable {
    let verifier: AppStoreVerifier
    let store: any Store
    let policies: PolicyBook
    let certificateKey: CertificateKey
    let accessTokenKey: AccessTokenKey
    let terms: ServiceConfiguration.Terms
    let bundleID: String

    func sync(_ request: SyncRequest, device: UUID?, now: Date, logger: Logger) async throws -> CustomerAnswer {
        let submission = await Submission(request, deviceVerificationID: device, by: verifier, now: now)
        let membership = Membership(of: submission)
        guard let realm = submission.realm, !membership.artifacts.isEmpty else {
            throw Self.nothingVerified(membership.faults, mayCountLater: submission.mayCountLater)
        }
        let (customer, outcome) = try await store.amend(membership.identities, in: realm, at: now) { known in
            change(known, by: submission, now: now)
        }
        let result = try outcome.get()
        var answer = CustomerAnswer(
            customer, evidence: result.evidence, decisions: result.decisions)
        answer.problems = result.faults.problems
        let isBound = submission.appTransaction?.isOnDevice ?? false
        let token = AccessToken(
            customer: customer.id, realm: realm,
            expiresAt: now.addingTimeInterval(isBound ? terms.accessToken : terms.unboundAccessToken))
        answer.accessToken = AccessTokenResponse(value: accessTokenKey.text(of: token), expiresAt: token.expiresAt)
        if isBound, let device {
            let certificate = Certificate(
                bundleID: bundleID, customer: customer,
                appTransactionID: submission.appTransaction?.payload.appTransactionID,
                deviceVerificationID: device, decisions: result.decisions, terms: terms, now: now)
            answer.certificate = try certificateKey.sign(certificate.claims, type: Certificate.type)
        }
        logger.info(
            "synced",
            metadata: [
                "customer": "\(customer.publicID)", "environment": "\(realm.environment.rawValue)",
                "counted": "\(result.counted)", "refused": "\(result.faults.count)", "bound": "\(isBound)",
            ])
        return answer
    }

    private struct Outcome: Sendable {
        let evidence: Evidence
        let decisions: [Decision]
        let faults: [Fault]
        let counted: Int
    }

    /// Inside the transaction, so that two syncs of one customer see each other's proofs.
    private func change(
        _ known: Customer?, by submission: Submission, now: Date
    ) -> (Amendment, Result<Outcome, Problem>) {
        let membership = Membership(of: submission, known: known)
        var amendment = Amendment(of: known)
        amendment.add(
            membership.artifacts, proving: membership.proofs, purchases: membership.purchases,
            renewals: membership.renewals)
        amendment.identify(by: membership.identities)
        if membership.isComplete { amendment.completePurchases() }
        let evidence = amendment.facts.evidence(in: submission.realm?.environment ?? .production)
        do {
            let decisions = try policies.decide(amendment.facts, evidence, at: now)
            for decision in decisions {
                for right in decision.eraRights {
                    amendment.promise(
                        RecordedPromise(
                            entitlement: decision.entitlement, acquisition: right.acquisition,
                            policyVersion: policies.currentVersion, until: right.until, recordedAt: now))
                }
            }
            let outcome = Outcome(
                evidence: evidence, decisions: decisions, faults: membership.faults,
                counted: membership.artifacts.count)
            return (amendment, .success(outcome))
        } catch {
            return (amendment, .failure(error))
        }
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
            id: customer.publicID, environment: customer.realm.environment, isTest: customer.realm.isTest,
            decisions: decisions, purchases: evidence.purchases, purchasesAreComplete: evidence.purchasesAreComplete)
    }
}
