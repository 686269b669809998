import Foundation

/// Rules D2 to D5 of Docs/decision-rules.md: the conditions of one honor (an era that gives an entitlement, with
/// limits), and when the right from the honor ends.
extension Honor {
    /// When an honor ends on a platform.
    enum End {
        case known(Date)
        /// The honor has no end, or its era still runs.
        case never
        /// The length of time in the policy's key `for` begins at the era's end, for which the policy has no date.
        case unknown

        /// Whether the end is known and isn't later than `now`.
        func hasPassed(at now: Date) -> Bool { if case .known(let end) = self { end <= now } else { false } }
    }

    /// Whether the honor depends on the purchase date.
    var needsDate: Bool { boughtSince != nil || boughtBefore != nil }

    /// Whether the purchase date is within the honor's dates, or outside by at most `Tolerance.seconds`.
    func covers(_ date: Date) -> Bool {
        if let boughtSince, date < boughtSince.addingTimeInterval(-Tolerance.seconds) { return false }
        if let boughtBefore, date > boughtBefore.addingTimeInterval(Tolerance.seconds) { return false }
        return true
    }

    /// Rule D3: returns when this honor ends for a purchase in the era with this index, on the platform of the
    /// timeline. `now` matters only if the end of the era is unknown.
    func end(of era: Int, on timeline: Timeline, at now: Date) -> End {
        guard let length else { return until.map { .known($0) } ?? .never }
        let end: End =
            if let eraEnd = timeline.end(of: era) {
                .known(length.end(from: eraEnd))
            } else {
                timeline.era(after: era) == nil ? .never : .unknown
            }
        guard let until else { return end }
        switch end {
        case .known(let date): return .known(min(date, until))
        case .never: return .known(until)
        // The honor ends at `until` at the latest. The end of its `for` is unknown and may be earlier.
        case .unknown: return until <= now ? .known(until) : .unknown
        }
    }

    /// Returns what the honor gives to a purchase on that date in the era on a platform.
    func answer(for date: Date?, inEra era: Int, on timeline: Timeline, at now: Date) -> SourceAnswer {
        if let date, !covers(date) { return .notGranted(.outsideWindow(era: era)) }
        let end = end(of: era, on: timeline, at: now)
        // Check this before a missing date: an honor that has ended gives nothing, whatever the purchase date is.
        if case .known(let date) = end, date <= now { return .notGranted(.honorEnded(era: era, at: date)) }
        if date == nil, needsDate { return .undetermined(.windowNeedsDate(era: era)) }
        let eras = EraSet(from: era, to: era + 1)
        switch end {
        case .known(let date): return .granted(until: date, .eraHonored(eras))
        case .never: return .granted(until: nil, .eraHonored(eras))
        case .unknown: return .undetermined(.endUnknown(era: era))
        }
    }
}

extension Entitlement {
    /// Returns what an acquisition on that date in the era gives on a platform. If the era has several honors, the best
    /// answer is used.
    func answer(for date: Date?, inEra era: Int, on timeline: Timeline, under policy: Policy, at now: Date)
        -> SourceAnswer
    {
        if unlimitedEras.contains(era) { return .granted(until: nil, .eraHonored(EraSet(from: era, to: era + 1))) }
        var best: SourceAnswer?
        if honoredEras.contains(era) {
            let name = policy.eras[era].name
            for honor in honors ?? [] where honor.era == name {
                best = SourceAnswer.best(best, honor.answer(for: date, inEra: era, on: timeline, at: now))
            }
        }
        return best ?? .notGranted(.eraNotHonored(EraSet(from: era, to: era + 1)))
    }
}

extension Policy {
    /// Rule D4: eras and platforms can give different ends of a right. Returns the later end under `favorCustomer`, and
    /// otherwise the earlier end.
    func favored(_ one: Date?, _ other: Date?) -> Date? {
        one.outlasts(other) == (inDoubt == .favorCustomer) ? one : other
    }
}
