public import Foundation

/// Rule H: a right that an era once gave, kept against policy edits.
public struct Promise: Sendable, Hashable {
    public let entitlement: String
    public let acquisition: AcquisitionKey
    /// The version of the policy that gave it, by which the acquisition's present evidence is judged.
    public let policy: Policy
    /// Nil: for good.
    public let until: Date?

    package init(entitlement: String, acquisition: AcquisitionKey, policy: Policy, until: Date?) {
        self.entitlement = entitlement
        self.acquisition = acquisition
        self.policy = policy
        self.until = until
    }

    /// It holds until the acquisition's present evidence, judged by the version that gave it, gives nothing. Evidence
    /// that is absent or does not tell ends nothing, nor does another acquisition.
    ///
    /// `sources`: the evidence's acquisitions, each judged under the present policy, which is the promise's mostly.
    func answer(for evidence: Evidence, judged sources: [EraSource], at now: Date) -> SourceAnswer? {
        guard until.holds(at: now) else { return nil }
        var end = until
        if let promised = policy.entitlement(named: entitlement),
            let present = present(promised, in: evidence, sources, at: now)
        {
            if case .nothing = present { return .nothing(.promiseEnded) }
            // At that instant the present evidence will give nothing.
            if case .gives(let presentEnd, _) = present, end.outlasts(presentEnd) { end = presentEnd }
        }
        return .gives(until: end, .promise(until: end))
    }

    /// What the acquisition's present evidence gives under the version that promised; nil where there is none. Where
    /// only a date tells acquisitions apart, several can be meant: the best of them counts.
    private func present(
        _ promised: Entitlement, in evidence: Evidence, _ sources: [EraSource], at now: Date
    ) -> SourceAnswer? {
        var best: SourceAnswer?
        for (index, candidate) in evidence.acquisitions.enumerated() where candidate.key.matches(acquisition) {
            let known = sources.indices.contains(index) && sources[index].policy.isSame(as: policy)
            let source = known ? sources[index] : EraSource(candidate, under: policy, at: now)
            best = SourceAnswer.best(best, source.answer(for: promised))
        }
        return best
    }
}
