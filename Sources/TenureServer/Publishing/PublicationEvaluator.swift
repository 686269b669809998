import Foundation
import TenureAPI
import TenureCore
import TenureRehearsal
import TenureStore

/// Evaluates what a new policy changes for one customer, both if the customer's promises are kept and if they end. A
/// promise is a right that an earlier version of the policy gave, stored for the customer.
struct PublicationEvaluator: Sendable {
    let comparison: Comparison
    let policies: ActivePolicy

    /// Creates the evaluation of a new policy, compared with the policy that it replaces.
    init(of new: Policy, replacing old: Policy, policies: ActivePolicy, at instant: Date) {
        comparison = Comparison(of: new, against: old, at: instant)
        self.policies = policies
    }

    /// Compares the customer's decisions under both policies. Throws if a promise refers to a version of the policy
    /// that this process hasn't read yet.
    func result(for subject: CustomerToEvaluate) throws(Problem) -> CustomerEffects {
        comparison.customerEffects(
            on: subject.customer.evidence, promises: try policies.promises(subject.customer.facts.promises),
            restored: try policies.promises(subject.restored))
    }

    /// Returns whether the customer gains or loses something, and which of their promises a publication ends. An
    /// unbound customer (artifacts without proof that they belong to their sender) isn't counted as gaining or losing
    /// anything.
    func impact(
        on subject: CustomerToEvaluate, _ customerEffects: CustomerEffects, keepingPromises: Bool
    ) -> PublicationImpact {
        let effects = keepingPromises ? customerEffects.ifPromisesAreKept : customerEffects.ifPromisesEnd
        let lost = effects.filter { $0.change == .loses }.map(\.entitlement)
        var impact = PublicationImpact()
        if !subject.isUnbound {
            impact.gains = effects.contains { $0.change == .gains }
            impact.loses = !lost.isEmpty
        }
        if !keepingPromises {
            impact.ending = Set(subject.customer.facts.promises.map(\.entitlement)).intersection(lost)
        }
        return impact
    }
}
