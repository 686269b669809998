import Foundation

/// Rule H3.
extension Promise {
    /// What the promise gives: until its own end, or until a refund or the end of a license ends it under the policy that
    /// made it. Evidence about when the app was acquired doesn't matter, nor does another acquisition. Nil once it has
    /// ended by itself.
    func answer(for acquisitions: [Acquisition], at now: Date) -> SourceAnswer? {
        guard until.holds(at: now) else { return nil }
        let promised = SourceAnswer.gives(until: until, .promise(until: until))
        let entitlement = policy.entitlement(named: entitlement) ?? Entitlement(name: entitlement)
        var best: SourceAnswer?
        // Where only dates tell acquisitions apart, several can be meant: the best of them counts.
        for candidate in acquisitions where candidate.key.matches(acquisition) {
            let endings = Endings(
                acquisition: candidate, timelines: policy.timelines.possible(for: candidate.originalPlatform),
                policy: policy, now: now)
            best = SourceAnswer.best(best, endings.apply(to: promised, for: entitlement))
        }
        switch best ?? promised {
        case .gives(let end, _): return .gives(until: end, .promise(until: end))
        case .undetermined(let finding): return .undetermined(finding)
        case .nothing: return .nothing(.promiseEnded)
        }
    }
}
