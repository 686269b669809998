import Foundation

extension EraSource {
    /// What the honours of one era give to the acquisition: the best of those that name it.
    func answer(of honours: [Honour], era: Int) -> SourceAnswer {
        let name = policy.eras[era].name
        let itself = EraSet(from: era, to: era + 1)
        var best: SourceAnswer?
        for honour in honours where honour.era == name { best = SourceAnswer.best(best, answer(of: honour, era: era)) }
        return best ?? .nothing(.eraNotHonoured(itself))
    }

    private func answer(of honour: Honour, era: Int) -> SourceAnswer {
        let date = acquisition.originalPurchaseDate
        if let date, !honour.window.contains(date) { return .nothing(.outsideWindow(era: era)) }
        let end = end(of: honour, era: era)
        // Before the missing date: what has ended honours nothing, whatever it would say.
        if case .known(let end) = end, end <= now { return .nothing(.honourEnded(era: era, at: end)) }
        if date == nil, honour.boughtSince != nil || honour.boughtBefore != nil {
            return .undetermined(.windowNeedsDate(era: era))
        }
        let eras = EraSet(from: era, to: era + 1)
        switch end {
        case .known(let date): return .gives(until: date, .eraHonoured(eras))
        case .never: return .gives(until: nil, .eraHonoured(eras))
        case .unknown: return .undetermined(.endUnknown(era: era))
        }
    }

    /// Until when an era gives the entitlement to whoever got the app in it at some instant between these two (both
    /// included): nil where it gives nothing now, `.some(nil)` for good. `maybe`: an end that nobody knows counts as none.
    func end(
        ofHonouring era: Int, at instants: ClosedRange<Date>, by entitlement: Entitlement, maybe: Bool
    ) -> Date?? {
        let name = policy.eras[era].name
        var latest: Date??
        for honour in entitlement.honours ?? [] where honour.era == name && honour.window.overlaps(instants) {
            let end: Date?
            switch self.end(of: honour, era: era) {
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

    private func end(of honour: Honour, era: Int) -> End {
        guard let length = honour.length else { return honour.until.map { .known($0) } ?? .never }
        let end = end(of: length, era: era)
        guard let until = honour.until else { return end }
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
            result = result.map { favoured($0, end) ?? $0 } ?? end
        }
        return result.map { .known($0) } ?? .unknown
    }
}

extension Honour {
    /// The dates that it asks for, with the slack; it ends before the last.
    fileprivate var window: Range<Date> {
        let since = boughtSince?.addingTimeInterval(-Slack.seconds) ?? .distantPast
        let before = boughtBefore?.addingTimeInterval(Slack.seconds) ?? .distantFuture
        return since..<max(since, before)
    }
}
