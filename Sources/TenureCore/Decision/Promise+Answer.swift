import Foundation

/// Rule H3 of Docs/decision-rules.md: when a promise ends.
extension Promise {
    /// Returns what the promise gives; nil if `until` has passed.
    ///
    /// A refund or the end of a license ends the promise, too, by the policy under which it was made. The version and
    /// the date of the acquisition don't matter anymore, and neither do other acquisitions.
    func answer(for acquisitions: [Acquisition], at now: Date) -> SourceAnswer? {
        guard until.isStillValid(at: now) else { return nil }
        let promised = SourceAnswer.granted(until: until, .promise(until: until))
        let entitlement = policy.entitlement(named: entitlement) ?? Entitlement(name: entitlement)
        var best: SourceAnswer?
        // If the promise has no ID, several acquisitions can match by date. Use the best answer.
        for candidate in acquisitions where candidate.key.matches(acquisition) {
            let endings = Endings(
                acquisition: candidate, timelines: policy.timelines.possible(for: candidate.originalPlatform),
                policy: policy, now: now)
            best = SourceAnswer.best(best, endings.apply(to: promised, for: entitlement))
        }
        switch best ?? promised {
        case .granted(let end, _): return .granted(until: end, .promise(until: end))
        case .undetermined(let finding): return .undetermined(finding)
        case .notGranted: return .notGranted(.promiseEnded)
        }
    }
}
