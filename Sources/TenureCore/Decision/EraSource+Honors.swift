import Foundation

extension EraSource {
    /// What the honors of one era give to the acquisition: the best of those that name it.
    func answer(of honors: [Honor], era: Int) -> SourceAnswer {
        let name = policy.eras[era].name
        let itself = EraSet(from: era, to: era + 1)
        var best: SourceAnswer?
        for honor in honors where honor.era == name { best = SourceAnswer.best(best, answer(of: honor, era: era)) }
        return best ?? .nothing(.eraNotHonored(itself))
    }

    private func answer(of honor: Honor, era: Int) -> SourceAnswer {
        let date = acquisition.originalPurchaseDate
        if let date, !honor.window.contains(date) { return .nothing(.outsideWindow(era: era)) }
        let end = end(of: honor, era: era)
        // Before the missing date: what has ended honors nothing, whatever it would say.
        if case .known(let end) = end, end <= now { return .nothing(.honorEnded(era: era, at: end)) }
        if date == nil, honor.boughtSince != nil || honor.boughtBefore != nil {
            return .undetermined(.windowNeedsDate(era: era))
        }
        let eras = EraSet(from: era, to: era + 1)
        switch end {
        case .known(let date): return .gives(until: date, .eraHonored(eras))
        case .never: return .gives(until: nil, .eraHonored(eras))
        case .unknown: return .undetermined(.endUnknown(era: era))
        }
    }

    /// Until when an era gives the entitlement to whoever got the app in it at some instant between these two (both
    /// included): nil where it gives nothing now, `.some(nil)` for good. `maybe`: an end that nobody knows counts as none.
    func end(
        ofHonoring era: Int, at instants: ClosedRange<Date>, by entitlement: Entitlement, maybe: Bool
    ) -> Date?? {
        let name = policy.eras[era].name
        var latest: Date??
        for honor in entitlement.honors ?? [] where honor.era == name && honor.window.overlaps(instants) {
            let end: Date?
            switch self.end(of: honor, era: era) {
            case .known(let date) where date <= now: continue
            case .known(let date): end = date
            case .never: end = nil
            case .unknown:
                guard maybe else { continue }
                end = nil
            }
            latest = .some(latest.map { end.outlasts($0) ? end : $0 } ?? end)
        }
        return latest
    }

    private enum End {
        case known(Date)
        /// For good, or there is no next era yet.
        case never
        case unknown
    }

    private func end(of honor: Honor, era: Int) -> End {
        guard let length = honor.length else { return honor.until.map { .known($0) } ?? .never }
        let end = end(of: length, era: era)
        guard let until = honor.until else { return end }
        switch end {
        case .known(let date): return .known(min(date, until))
        case .never: return .known(until)
        // It ends by then, and may have ended before.
        case .unknown: return until <= now ? .known(until) : .unknown
        }
    }

    /// Counted from the dated beginning of the next era, on each platform where the acquisition can have been.
    private func end(of length: CalendarPeriod, era: Int) -> End {
        guard era + 1 < policy.eras.count else { return .never }
        var result: Date?
        for timeline in possible.timelines(allowing: era) {
            guard let change = timeline.end(of: era) else { continue }
            let end = length.end(from: change)
            result = result.map { favored($0, end) ?? $0 } ?? end
        }
        return result.map { .known($0) } ?? .unknown
    }
}

extension Honor {
    /// The dates that it asks for, with the slack; it ends before the last.
    fileprivate var window: Range<Date> {
        let since = boughtSince?.addingTimeInterval(-Slack.seconds) ?? .distantPast
        let before = boughtBefore?.addingTimeInterval(Slack.seconds) ?? .distantFuture
        return since..<max(since, before)
    }
}
