import Foundation
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// Turns the signed artifacts that a client sends in a sync into decisions: verifies the artifacts, links those of one
/// customer, saves them, and decides what the customer may use.
///
/// `SyncService` is a class because every sync captures the service. Copying a struct would retain each of its parts,
/// and cores would compete for their reference counts.
final class SyncService: Sendable {
    let verifier: AppStoreVerifier
    let store: Store
    let policies: ActivePolicy
    let signingKeys: SigningKeys
    let accessTokenKey: AccessTokenKey
    /// Compares entitlements before and after the sync, to find the messages for webhooks. Nil if this service has no
    /// webhooks.
    let entitlementComparer: EntitlementComparer?
    let personas: ActivePersonas
    let configuration: ServiceConfiguration

    /// Creates the service. Throws `noEnvironment` if the configuration accepts no environment of the App Store.
    init(
        _ configuration: ServiceConfiguration, store: Store, policies: ActivePolicy, signingKeys: SigningKeys,
        accessTokenKey: AccessTokenKey, entitlementComparer: EntitlementComparer?, personas: ActivePersonas
    ) throws(ServiceError) {
        self.configuration = configuration
        verifier = try configuration.verifier()
        self.store = store
        self.policies = policies
        self.signingKeys = signingKeys
        self.accessTokenKey = accessTokenKey
        self.entitlementComparer = entitlementComparer
        self.personas = personas
    }

    /// Verifies and links artifacts, saves what they prove, and decides what the customer may use.
    ///
    /// Throws a `Problem` if no artifact is accepted, or if the client must send the request again.
    func sync(_ request: SyncRequest, on device: ClaimedDevice, now: Date, logger: Logger) async throws
        -> CustomerAnswer
    {
        // 1. Verify each artifact by itself.
        let verified = await VerifiedArtifacts(request, on: device, verifiedBy: verifier, now: now)

        // 2. Link the artifacts that belong to one customer.
        let linked = LinkedArtifacts(verified)
        var personaCheck = try await personas.check(request.persona, at: now)
        guard let realm = verified.realm, !linked.proven.artifacts.isEmpty else {
            throw Self.nothingVerified(
                linked.rejected + personaCheck.rejected, mayBeAcceptedLater: verified.mayBeAcceptedLater)
        }
        personaCheck = personaCheck.combined(withArtifactsFrom: realm.environment)

        // 3. In one transaction, which the database may run twice: find the customer, decide, save.
        let plan = CustomerUpdatePlan(
            naming: linked.identities, in: realm, at: now, adding: verified.size, proving: linked.acquisition)
        let decide = { @Sendable (storedCustomer: Customer?) -> (CustomerUpdate, Result<Outcome, Problem>) in
            self.decide(on: storedCustomer, adding: verified, linked, in: realm, now: now)
        }
        var saved: SavedCustomer?
        if plan.mayFitOneTransaction {
            saved = try await store.write(at: now, locking: plan.lockKeys) { transaction -> SavedCustomer? in
                guard let match = try transaction.findCustomer(plan) else { return nil }
                let (update, outcome) = decide(match.customer)
                return (try transaction.save(update, of: match), outcome)
            }
        }
        // A sync with thousands of purchases takes several transactions, so that other customers don't wait for it.
        let (customer, outcome) = if let saved { saved } else { try await store.updateInPieces(plan, decide: decide) }

        // 4. Respond. If the artifacts are unbound (none was signed for the sender's device), the response shows only
        //    what they prove by themselves. A persona replaces the customer in the response only, and is never saved.
        let linkedOutcome = try outcome.get()
        var (shownCustomer, shownOutcome) =
            linked.isBound ? (customer, linkedOutcome) : try await saveUnbound(verified, linked, in: realm, now: now)
        let persona = personaCheck.persona
        if let persona { shownOutcome = try self.decide(on: shownCustomer, as: persona.persona, now: now) }
        var answer = CustomerAnswer(shownCustomer, evidence: shownOutcome.evidence, decisions: shownOutcome.decisions)
        answer.problems = (linkedOutcome.rejected + personaCheck.rejected).problems
        answer.accessToken = accessToken(for: shownCustomer, bound: linked.isBound, as: persona, now: now)
        // Only an app transaction for this device proves enough for an entitlement token.
        let keys = signingKeys.current
        answer.signingKey = keys.vouchers
        if verified.appTransaction?.isOnDevice == true, let device = verified.hashedDevice, keys.period.contains(now) {
            let token = EntitlementToken(
                bundleID: configuration.policy.app.bundleID, customer: customer,
                appTransactionID: verified.appTransaction?.payload.appTransactionID, device: device,
                decisions: shownOutcome.decisions, persona: persona, nonce: request.nonce,
                lifetimes: configuration.tokenLifetimes, now: now)
            answer.entitlementToken = try keys.sign(token.claims, type: EntitlementToken.type)
        }
        logger.debug(
            "synced",
            metadata: [
                "environment": "\(realm.environment.rawValue)", "counted": "\(linkedOutcome.acceptedCount)",
                "refused": "\(linkedOutcome.rejected.count)", "bound": "\(linked.isBound)",
            ])
        return answer
    }

    /// The customer after the update, and the decisions or the problem with which the decisions failed. The update is
    /// saved in both cases.
    private typealias SavedCustomer = (customer: Customer, outcome: Result<Outcome, Problem>)

    /// The decisions, the evidence on which they are based, and which artifacts were accepted.
    private struct Outcome: Sendable {
        let evidence: Evidence
        let decisions: [Decision]
        var rejected: [RejectedArtifact] = []
        /// The number of accepted artifacts.
        var acceptedCount = 0
    }

    /// Decides what a customer may use with the new artifacts. Returns the update with what the artifacts add to the
    /// customer, and the decisions.
    ///
    /// - Parameters:
    ///   - storedCustomer: The stored customer; nil for a new customer.
    ///   - linkedAlone: The artifacts as they are linked without the stored customer. If these artifacts are bound, all
    ///     artifacts are linked again, because the customer's stored facts may link more of them.
    private func decide(
        on storedCustomer: Customer?, adding verified: VerifiedArtifacts, _ linkedAlone: LinkedArtifacts,
        in realm: Realm, now: Date
    ) -> (CustomerUpdate, Result<Outcome, Problem>) {
        let isRelinked = linkedAlone.isBound && storedCustomer != nil
        let linked = isRelinked ? LinkedArtifacts(verified, storedCustomer: storedCustomer) : linkedAlone
        var update = CustomerUpdate(of: storedCustomer)
        linked.proven.add(to: &update, of: storedCustomer)
        if linkedAlone.isBound, let device = verified.hashedDevice {
            let getsEntitlementToken = verified.appTransaction?.isOnDevice == true
            let limit = configuration.deviceLimit
            update.addUse(of: DeviceUse(device: device, getsEntitlementToken: getsEntitlementToken, limit: limit))
        }
        if linked.isComplete, linkedAlone.isBound { update.completePurchases() }
        // The App Store is asked for the history of a new customer. It is also asked when a new device of a stored
        // customer syncs and the database may lack purchases: for example, a notification may have created the
        // customer.
        if configuration.appStore != nil, linkedAlone.isBound, realm.environment != .xcode {
            if storedCustomer == nil {
                update.fetchesHistory = true
            } else if storedCustomer?.facts.purchasesAreComplete != true {
                update.fetchesHistoryForNewDevice = true
            }
        }
        let outcome = Result<Outcome, Problem> { () throws(Problem) in
            let (evidence, decisions) = try policies.decide(&update, in: realm.environment, at: now)
            // If this process has no webhooks, `later` lets a process with webhooks compare the customer.
            update.entitlementChange =
                try entitlementComparer?.entitlementChange(of: storedCustomer, decisions: decisions, at: now) ?? .later
            return Outcome(
                evidence: evidence, decisions: decisions, rejected: linked.rejected,
                acceptedCount: linked.proven.artifacts.count)
        }
        return (update, outcome)
    }

    /// Decides what a stored customer may use; with a persona, decides what the persona may use instead.
    private func decide(on customer: Customer, as persona: Persona?, now: Date) throws(Problem) -> Outcome {
        let evidence = customer.evidence(as: persona)
        return Outcome(evidence: evidence, decisions: try policies.decide(customer.facts, evidence, at: now))
    }

    /// Saves artifacts without proof that they belong to the sender, as a separate customer: an unbound customer.
    /// Returns it with the decisions on it.
    ///
    /// The artifacts may be copies, with the identities of other customers. The decisions depend on what the artifacts
    /// prove, and on what those customers have lost: refunds, expirations and revocations. They don't depend on the
    /// rights of those customers, except promises for the same acquisition of the app.
    private func saveUnbound(
        _ verified: VerifiedArtifacts, _ linked: LinkedArtifacts, in realm: Realm, now: Date
    ) async throws -> (Customer, Outcome) {
        var update = CustomerUpdate(of: nil)
        update.entitlementChange = .never
        let proven = linked.proven
        update.add(proven.artifacts, proving: proven.proofs, purchases: proven.purchases, renewals: proven.renewals)
        if linked.isComplete { update.completePurchases() }
        let unboundCustomer = try await store.recordUnbound(
            linked.unboundIdentity(of: verified), naming: linked.identities, in: realm, at: now, update)
        guard let customer = unboundCustomer?.limited else {
            throw Problem(.busy, "the customer was erased just now; send the request again", retryAfter: 1)
        }
        return (customer, try decide(on: customer, as: nil, now: now))
    }

    /// Makes an access token. With a persona, the token expires no later than the persona.
    private func accessToken(
        for customer: Customer, bound isBound: Bool, as persona: StoredPersona?, now: Date
    ) -> AccessTokenResponse {
        let lifetimes = configuration.tokenLifetimes
        let end = now.addingTimeInterval(isBound ? lifetimes.accessToken : lifetimes.unboundAccessToken)
        let token = AccessToken(
            customer: customer.member, realm: customer.realm, expiresAt: min(end, persona?.expiresAt ?? end),
            persona: persona?.number)
        return AccessTokenResponse(value: accessTokenKey.text(of: token), expiresAt: token.expiresAt)
    }

    /// Returns the response if no artifact is accepted.
    ///
    /// - Parameter mayBeAcceptedLater: Whether a rejected artifact may be accepted later, so that the client should
    ///   send all artifacts again.
    private static func nothingVerified(_ rejected: [RejectedArtifact], mayBeAcceptedLater: Bool) -> Problem {
        if mayBeAcceptedLater {
            return Problem(
                .tooManyUnknownSigners,
                "the service received too many artifacts with unknown signers in a short time; send them again",
                problems: rejected.problems, retryAfter: 5)
        }
        let detail =
            rejected.isEmpty
            ? "the request has no artifact; send `appTransaction`, `receipt` or `transactions`"
            : "no artifact that identifies a customer is valid; `problems` in this response says why"
        return Problem(.nothingVerified, detail, problems: rejected.problems)
    }
}
