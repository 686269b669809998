import Foundation

/// Rule E of Docs/decision-rules.md: how a refund of the app, or the end of a volume-purchase license, ends the rights
/// that eras (periods with one business model) give.
struct Endings {
    let acquisition: Acquisition
    /// The timelines of the platforms on which the app can have been acquired.
    let timelines: [Timeline]
    let policy: Policy
    let now: Date

    /// Returns the answer, shortened or replaced if a license ends or the app was refunded.
    func apply(to answer: SourceAnswer, for entitlement: Entitlement) -> SourceAnswer {
        var answer = answer
        if let license = acquisition.expirationDate {
            if license <= now { return .notGranted(.licenseEnded(at: license)) }
            answer = answer.ending(at: license)
        }
        guard let refund = acquisition.refund else { return answer }
        if let (signed, until) = restoration(after: refund, of: entitlement) {
            return answer.ending(at: until).explained(by: .boughtAgain(signed: signed))
        }
        if refund.revocationDate > now { return answer.ending(at: refund.revocationDate) }
        // An artifact signed after the refund belongs to a new purchase, which may have been in an honored era.
        let possible = refund.restorations.first { canBeHonored(after: refund.signedDate, upTo: $0, entitlement) }
        if let possible { return .undetermined(.boughtAgainInDoubt(signed: possible)) }
        return .notGranted(.appRefunded(at: refund.revocationDate))
    }

    /// Rule E2: finds the best artifact that proves that the app was bought again after a refund, in an honored era (an
    /// era that gives the entitlement). Returns the artifact's signing date, and when the new right ends: never if
    /// `until` is nil.
    private func restoration(
        after refund: Acquisition.Refund, of entitlement: Entitlement
    ) -> (signed: Date, until: Date?)? {
        var best: (signed: Date, until: Date?)?
        for signed in refund.restorations {
            guard let until = end(ofBuyingAt: signed, entitlement) else { continue }
            if let best, !until.outlasts(best.until) { continue }
            best = (signed, until)
        }
        return best
    }

    /// Returns the end of the right that a purchase of the app at this date gives.
    ///
    /// Returns `.some(nil)` if the right never ends, and nil if the purchase may be in an era that isn't honored. All
    /// possible eras must be honored, on every possible platform. In a changeover window, which is the time around a
    /// change of the business model, both the era before and the era after are possible (rule C3).
    private func end(ofBuyingAt date: Date, _ entitlement: Entitlement) -> Date?? {
        var end: Date??
        for timeline in timelines {
            let proof = DateProof(of: date, on: timeline)
            for era in proof.eras.union(proof.windowEras) {
                let answer = entitlement.answer(for: date, inEra: era, on: timeline, under: policy, at: now)
                guard case .granted(let until, _) = answer else { return nil }
                end = .some(end.map { policy.favored($0, until) } ?? until)
            }
        }
        return end
    }

    /// Whether a purchase of the app after `start` and up to `end` can have been in an honored era, within the honor's
    /// limits.
    private func canBeHonored(after start: Date, upTo end: Date, _ entitlement: Entitlement) -> Bool {
        timelines.contains { timeline in
            timeline.eras.intersection(entitlement.honoredEras).contains { era in
                let sale = timeline.sale(of: era)
                let name = policy.eras[era].name
                return (entitlement.honors ?? []).contains { honor in
                    guard honor.era == name, !honor.end(of: era, on: timeline, at: now).hasPassed(at: now)
                    else { return false }
                    // The sale includes its beginning, but not its end. The time from `start` to `end` includes `end`,
                    // but not `start`.
                    let first = max(sale.begin, honor.boughtSince ?? .distantPast)
                    let last = min(sale.end, honor.boughtBefore ?? .distantFuture)
                    return first < last && first <= end && start < last && start < end
                }
            }
        }
    }
}
