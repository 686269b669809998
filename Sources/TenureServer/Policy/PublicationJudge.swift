import Foundation
import TenureAPI
import TenureCore
import TenureRehearsal
import TenureStore

/// What a policy does to one customer, with the promises that bind them and without.
struct PublicationJudge: Sendable {
    let comparison: Comparison
    /// What decides now.
    let old: Policy
    let policies: PolicyBook

    struct Judgment {
        /// As the policy is written: of what is promised only that counts which the policy of now does not give either,
        /// so that an edit is blamed for nothing that an earlier one took.
        let written: [Verdict]
        /// With every promise kept.
        let kept: [Verdict]
    }

    init(of new: Policy, instead old: Policy, policies: PolicyBook, at instant: Date) {
        comparison = Comparison(of: new, against: old, at: instant)
        self.old = old
        self.policies = policies
    }

    /// Throws where a promise rests on a version that this process does not know.
    func judge(_ surveyed: SurveyedCustomer) throws(Problem) -> Judgment {
        let evidence = surveyed.customer.evidence
        let promises = try policies.promises(surveyed.customer.facts.promises)
        let restored = try policies.promises(surveyed.restored)
        let bare = comparison.verdicts(on: evidence, promises: promises, keeping: restored)
        // Nearly everybody: promises only ever add.
        guard !promises.isEmpty, bare.contains(where: { $0.change == .loses }) else {
            return Judgment(written: bare, kept: bare)
        }
        let given = Set(
            decide(evidence, under: old, at: comparison.instant).filter { $0.outcome == .granted }.map(\.entitlement))
        let elder = promises.filter { !given.contains($0.entitlement) }
        return Judgment(
            written: comparison.verdicts(on: evidence, promises: promises, keeping: elder + restored),
            kept: comparison.verdicts(on: evidence, promises: promises, keeping: promises + restored))
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
