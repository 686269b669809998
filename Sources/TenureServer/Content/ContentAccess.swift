import Foundation
import TenureContent
import TenureCore
import TenureStore

/// Decides which asset packs (files that a purchase unlocks) a customer may download. The rules are those of the
/// client's `Tenure.allows`, as far as the service has the same data as the app.
struct ContentAccess: Sendable {
    let store: Store
    let policies: ActivePolicy

    /// Returns which of these entitlements and products the customer has. A running trial session of an entitlement
    /// counts. A decision that is undetermined for lack of artifacts counts too, while the policy's `whileUndetermined`
    /// allows it.
    ///
    /// An unbound customer has nothing: their artifacts came without proof that they belong to the sender, so they may
    /// be another person's.
    ///
    /// - Parameter persona: The test customer that replaces this customer in decisions; nil if there is no persona.
    func allowedUnlocks(
        _ unlocks: Set<ContentCatalog.Unlock>, for customer: Customer, as persona: Persona?, at now: Date
    ) async throws -> Set<ContentCatalog.Unlock> {
        guard !customer.facts.isUnbound, !unlocks.isEmpty else { return [] }
        return try await policies.upToDate {
            let policy = policies.current
            let evidence = customer.evidence(as: persona)
            var outcomes: [ContentCatalog.Unlock: Decision.Outcome] = [:]
            for decision in try policies.decide(customer.facts, evidence, at: now) {
                outcomes[.entitlement(decision.entitlement)] = decision.outcome
            }
            for case .product(let id) in unlocks {
                outcomes[.product(id)] = Self.outcome(ofProduct: id, evidence, under: policy, at: now)
            }
            let unlocksUndetermined = policy.allowsUndetermined(since: customer.createdAt, at: now)
            var allowed = unlocks.filter { unlock in
                outcomes[unlock] == .granted || (unlocksUndetermined && outcomes[unlock] == .undetermined)
            }
            // A running trial may unlock further packs.
            let unlocksWithTrial = unlocks.subtracting(allowed).filter { policy.trial(of: $0) != nil }
            guard !unlocksWithTrial.isEmpty else { return allowed }
            let begun = try await store.read { try $0.begunSessions(of: customer.id) }
            for unlock in unlocksWithTrial {
                guard case .entitlement(let name) = unlock, let sessions = begun[name] else { continue }
                if policy.trial(of: unlock)?.isOpen(sessions, at: now) == true { allowed.insert(unlock) }
            }
            return allowed
        }
    }

    /// Decides whether the customer has bought a product: whether they would have an entitlement that only this product
    /// grants.
    private static func outcome(
        ofProduct id: String, _ evidence: Evidence, under policy: Policy, at now: Date
    ) -> Decision.Outcome? {
        // The policy's entry for the product may say how long a non-renewing purchase of it is valid.
        let product = policy.entitlements.lazy.flatMap(\.products).first { $0.id == id } ?? .init(id: id)
        let entitlement = Entitlement(name: "product:\(id)", products: [product])
        let policyOfProduct = try? Policy(
            app: policy.app, eras: policy.eras, buildNumbers: policy.buildNumbers, releases: policy.releases,
            entitlements: [entitlement], inDoubt: policy.inDoubt, testEnvironments: policy.testEnvironments)
        guard let policyOfProduct else { return nil }
        return decide(evidence, under: policyOfProduct, at: now).first?.outcome
    }
}

extension Policy {
    /// Whether an undetermined decision unlocks packs now. The policy's `whileUndetermined` may allow that for some
    /// time after the service first saw the customer.
    fileprivate func allowsUndetermined(since firstSeen: Date, at now: Date) -> Bool {
        guard case .allow(let seconds) = whileUndetermined else { return false }
        return now < firstSeen.addingTimeInterval(seconds)
    }

    /// The trial of the entitlement that unlocks a pack; nil if there is no such trial.
    fileprivate func trial(of unlock: ContentCatalog.Unlock) -> Trial? {
        guard case .entitlement(let name) = unlock else { return nil }
        return entitlement(named: name)?.trial
    }
}

extension Trial {
    /// Whether the trial is running: the latest session, or the days since the first session, aren't over.
    fileprivate func isOpen(_ sessions: BegunSessions, at now: Date) -> Bool {
        switch self {
        case .sessions: now < sessions.latest.addingTimeInterval(Trial.maximumSessionDuration)
        case .days(let count): now < sessions.first.addingTimeInterval(Double(count) * 86_400)
        }
    }
}
