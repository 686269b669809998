import Foundation

/// Rule H3: when a promise ends.
extension Promise {
    /// Returns what the promise gives; nil if its own end has passed.
    ///
    /// A refund or the end of a license ends it too, under the policy that made it. Evidence about when the app was
    /// acquired doesn't matter, and neither do other acquisitions.
    func answer(for acquisitions: [Acquisition], at now: Date) -> SourceAnswer? {
        guard until.holds(at: now) else { return nil }
        let promised = SourceAnswer.gives(until: until, .promise(until: until))
        let entitlement = policy.entitlement(named: entitlement) ?? Entitlement(name: entitlement)
        var best: SourceAnswer?
        // Without IDs, several acquisitions can match by date. The best one counts.
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
