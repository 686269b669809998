import Foundation
import TenureAPI
import TenureCore
import TenureRehearsal
import TenureStore

/// Evaluates what a policy does to one customer, with promises and without.
struct PublicationEvaluator: Sendable {
    let comparison: Comparison
    let policies: ActivePolicy

    /// Creates the evaluation of a new policy, compared with the one that it replaces.
    init(of new: Policy, replacing old: Policy, policies: ActivePolicy, at instant: Date) {
        comparison = Comparison(of: new, against: old, at: instant)
        self.policies = policies
    }

    /// Compares the customer's decisions under both policies. Throws if a promise refers to a version of the policy that
    /// this process hasn't read yet.
    func result(for surveyed: SurveyedCustomer) throws(Problem) -> Judgment {
        comparison.judgment(
            on: surveyed.customer.evidence, promises: try policies.promises(surveyed.customer.facts.promises),
            restored: try policies.promises(surveyed.restored))
    }

    /// Returns whether the customer gains or loses something, and which of their promises a publication ends. Unbound
    /// customers don't count as gaining or losing.
    func verdict(
        on surveyed: SurveyedCustomer, _ judgment: Judgment, keepingPromises: Bool
    ) -> PublicationVerdict {
        let verdicts = keepingPromises ? judgment.kept : judgment.written
        let lost = verdicts.filter { $0.change == .loses }.map(\.entitlement)
        var verdict = PublicationVerdict()
        if !surveyed.isUnbound {
            verdict.gains = verdicts.contains { $0.change == .gains }
            verdict.loses = !lost.isEmpty
        }
        if !keepingPromises {
            verdict.ending = Set(surveyed.customer.facts.promises.map(\.entitlement)).intersection(lost)
        }
        return verdict
    }
}
