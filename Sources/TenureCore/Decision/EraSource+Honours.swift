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
        if honour.boughtSince != nil || honour.boughtBefore != nil {
            guard let date = acquisition.originalPurchaseDate else {
                return .undetermined(.windowNeedsDate(era: era))
            }
            let since = honour.boughtSince.map { date >= $0.addingTimeInterval(-Slack.seconds) } ?? true
            let before = honour.boughtBefore.map { date < $0.addingTimeInterval(Slack.seconds) } ?? true
            guard since && before else {
                return .nothing(.outsideWindow(era: era))
            }
        }
        var end = honour.until
        if let length = honour.length {
            switch self.end(of: length, era: era) {
            case .known(let date): end = end.outlasts(date) ? date : end
            case .never: break
            case .unknown:
                return .undetermined(.endUnknown(era: era))
            }
        }
        if let end, end <= now { return .nothing(.honourEnded(era: era, at: end)) }
        return .gives(until: end, .eraHonoured(EraSet(from: era, to: era + 1)))
    }

    private enum End {
        case known(Date)
        /// There is no next era yet.
        case never
        case unknown
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
