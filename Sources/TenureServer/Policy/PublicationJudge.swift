import Foundation
import TenureAPI
import TenureCore
import TenureRehearsal
import TenureStore

/// What a policy does to one customer, with the promises that bind them and without.
struct PublicationJudge: Sendable {
    let comparison: Comparison
    let policies: PolicyBook

    init(of new: Policy, instead old: Policy, policies: PolicyBook, at instant: Date) {
        comparison = Comparison(of: new, against: old, at: instant)
        self.policies = policies
    }

    /// Throws where a promise rests on a version that this process does not know.
    func judge(_ surveyed: SurveyedCustomer) throws(Problem) -> Judgment {
        comparison.judgment(
            on: surveyed.customer.evidence, promises: try policies.promises(surveyed.customer.facts.promises),
            restored: try policies.promises(surveyed.restored))
    }

    /// As a publication treats promises that stand in its way.
    func verdict(
        on surveyed: SurveyedCustomer, _ judgment: Judgment, keepingPromises: Bool
    ) -> PublicationVerdict {
        let verdicts = keepingPromises ? judgment.kept : judgment.written
        let lost = verdicts.filter { $0.change == .loses }.map(\.entitlement)
        var verdict = PublicationVerdict()
        if !surveyed.isVisit {
            verdict.gains = verdicts.contains { $0.change == .gains }
            verdict.loses = !lost.isEmpty
        }
        if !keepingPromises {
            verdict.ending = Set(surveyed.customer.facts.promises.map(\.entitlement)).intersection(lost)
        }
        return verdict
    }
}
