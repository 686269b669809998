import Foundation

/// What the honours of one era give to one acquisition: the best of those that name it.
enum HonourAnswer {
    case holds(until: Date?)
    case unclear(Finding)
    case no(Finding)

    init(_ honours: [Honour], era: Int, source: EraSource) {
        let name = source.policy.eras[era].name
        var best: HonourAnswer?
        for honour in honours where honour.era == name {
            let answer = honour.isUnlimited ? .holds(until: nil) : HonourAnswer(honour, era: era, source: source)
            if let known = best, !answer.isBetter(than: known) { continue }
            best = answer
        }
        self = best ?? .no(.eraNotHonoured(EraSet(from: era, to: era + 1)))
    }

    private init(_ honour: Honour, era: Int, source: EraSource) {
        if honour.boughtSince != nil || honour.boughtBefore != nil {
            guard let date = source.acquisition.originalPurchaseDate else {
                self = .unclear(.windowNeedsDate(era: era))
                return
            }
            let since = honour.boughtSince.map { date >= $0.addingTimeInterval(-Slack.seconds) } ?? true
            let before = honour.boughtBefore.map { date < $0.addingTimeInterval(Slack.seconds) } ?? true
            guard since && before else {
                self = .no(.outsideWindow(era: era))
                return
            }
        }
        var end = honour.until
        if let length = honour.length {
            switch Self.end(of: length, era: era, source: source) {
            case .known(let date): end = end.outlasts(date) ? date : end
            case .never: break
            case .unknown:
                self = .unclear(.endUnknown(era: era))
                return
            }
        }
        if let end, end <= source.now {
            self = .no(.honourEnded(era: era, at: end))
        } else {
            self = .holds(until: end)
        }
    }

    private enum End {
        case known(Date)
        /// There is no next era yet.
        case never
        case unknown
    }

    /// Counted from the dated beginning of the next era, on each platform where the acquisition can have been.
    private static func end(of length: CalendarPeriod, era: Int, source: EraSource) -> End {
        guard era + 1 < source.policy.eras.count else { return .never }
        var result: Date?
        for timeline in source.possible.timelines(allowing: era) {
            guard let change = timeline.end(of: era) else { continue }
            let end = length.end(from: change)
            result = result.map { source.favoured($0, end) ?? $0 } ?? end
        }
        return result.map { .known($0) } ?? .unknown
    }

    private func isBetter(than other: HonourAnswer) -> Bool {
        switch (self, other) {
        case (.holds(let mine), .holds(let others)): mine.outlasts(others)
        case (.holds, _): true
        case (.unclear, .no): true
        default: false
        }
    }
}
