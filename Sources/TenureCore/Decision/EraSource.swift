import Foundation

/// Rules D and E: what the eras of one acquisition give of an entitlement.
///
/// A class, since every entitlement of a decision asks the same one.
final class EraSource {
    let acquisition: Acquisition
    let possible: PossibleEras
    let policy: Policy
    let now: Date

    init(_ acquisition: Acquisition, index: AcquisitionIndex = 0, under policy: Policy, at now: Date) {
        self.acquisition = acquisition
        self.policy = policy
        self.now = now
        possible = PossibleEras(of: acquisition, index: index, under: policy)
    }

    func answer(for entitlement: Entitlement) -> SourceAnswer {
        let answer = answerByEras(for: entitlement)
        if case .nothing = answer { return answer }
        return endings(of: answer, for: entitlement)
    }

    /// Rule D.
    private func answerByEras(for entitlement: Entitlement) -> SourceAnswer {
        let honored = possible.eras.intersection(entitlement.honoredEras)
        guard !honored.isEmpty else { return .nothing(.eraNotHonored(possible.eras)) }

        var giving = honored.intersection(entitlement.unlimitedEras)
        var unclear: Finding?
        var refused: Finding?
        var end: Date?? = giving.isEmpty ? nil : .some(nil)
        for era in honored.subtracting(giving) {
            switch answer(of: entitlement.honors ?? [], era: era) {
            case .gives(let until, _):
                giving.insert(era)
                end = end.map { favored($0, until) } ?? .some(until)
            case .undetermined(let finding): unclear = unclear ?? finding
            case .nothing(let finding): refused = refused ?? finding
            }
        }
        if giving.isEmpty {
            if let unclear { return .undetermined(unclear) }
            return .nothing(refused ?? .eraNotHonored(possible.eras))
        }
        if giving == possible.eras {
            return .gives(until: end ?? nil, .eraHonored(giving))
        }
        guard possible.somethingWasCompared else { return .undetermined(.nothingToCompare) }
        let doubt = Finding.inDoubt(
            honored: giving,
            others: possible.eras.subtracting(giving)
        )
        return policy.inDoubt == .favorCustomer ? .gives(until: end ?? nil, doubt) : .undetermined(doubt)
    }

    /// Rule E.
    private func endings(of answer: SourceAnswer, for entitlement: Entitlement) -> SourceAnswer {
        var answer = answer
        if let license = acquisition.expirationDate {
            if license <= now { return .nothing(.licenseEnded(at: license)) }
            answer = answer.ending(at: license)
        }
        guard let refund = acquisition.refund else { return answer }
        switch restoration(after: refund, of: entitlement) {
        case .certain(let signed, let until):
            return answer.ending(at: until).explained(by: .boughtAgain(signed: signed))
        case .inDoubt(let signed, let until):
            guard refund.revocationDate <= now else { return answer }
            return policy.inDoubt == .favorCustomer
                ? answer.ending(at: until).explained(by: .boughtAgainInDoubt(signed: signed))
                : .undetermined(.boughtAgainInDoubt(signed: signed))
        case .none:
            if refund.revocationDate <= now { return .nothing(.appRefunded(at: refund.revocationDate)) }
            return answer.ending(at: refund.revocationDate)
        }
    }

    /// Where several platforms or eras give different ends.
    func favored(_ one: Date?, _ other: Date?) -> Date? {
        let favorsLater = policy.inDoubt == .favorCustomer
        return one.outlasts(other) == favorsLater ? one : other
    }
}

/// Rule E: whether the app was bought again after a refund, as what was signed then says, and until when what honors it
/// lasts.
private enum Restoration {
    case certain(signed: Date, until: Date?)
    case inDoubt(signed: Date, until: Date?)
    case none
}

extension EraSource {
    private func restoration(after refund: Acquisition.Refund, of entitlement: Entitlement) -> Restoration {
        let certain = longest(refund.restorations) { signed in
            self.end(certainlyHonoredAt: signed, by: entitlement)
        }
        if let certain { return .certain(signed: certain.signed, until: certain.until) }
        let possible = longest(refund.restorations) { signed in
            self.end(possiblyHonoredAfter: refund.revocationDate, until: signed, by: entitlement)
        }
        if let possible { return .inDoubt(signed: possible.signed, until: possible.until) }
        return .none
    }

    /// The first of those that last longest.
    private func longest(_ restorations: [Date], _ end: (Date) -> Date??) -> (signed: Date, until: Date?)? {
        var best: (signed: Date, until: Date?)?
        for signed in restorations {
            guard let until = end(signed) else { continue }
            if let best, !until.outlasts(best.until) { continue }
            best = (signed, until)
        }
        return best
    }

    /// Whether an app got at that instant was certainly honored, on every possible platform, and until when. In a
    /// changeover window both eras were on sale.
    private func end(certainlyHonoredAt date: Date, by entitlement: Entitlement) -> Date?? {
        var result: Date??
        for timeline in possible.timelines {
            let both = timeline.changeover(at: date)
            let eras = both ?? timeline.eras(at: date)
            let ends = eras.map { end(ofHonoring: $0, at: date...date, by: entitlement, maybe: false) }
            guard both == nil ? !ends.contains(nil) : ends.contains(where: { $0 != nil }) else { return nil }
            for case let end? in ends { result = .some(result.map { favored($0, end) } ?? end) }
        }
        return result
    }

    /// Whether an era was on sale and honored at one instant after the first and up to the second, on some possible
    /// platform, and until when.
    private func end(
        possiblyHonoredAfter start: Date, until end: Date, by entitlement: Entitlement
    ) -> Date?? {
        var result: Date??
        for timeline in possible.timelines {
            for era in timeline.allEras {
                let sale = timeline.sale(of: era)
                let (first, last) = (max(sale.begin, start), min(sale.end, end))
                guard sale.begin <= end, sale.end > start, first <= last,
                    let until = self.end(ofHonoring: era, at: first...last, by: entitlement, maybe: true)
                else { continue }
                result = .some(result.map { until.outlasts($0) ? until : $0 } ?? until)
            }
        }
        return result
    }
}

extension SourceAnswer {
    fileprivate func explained(by finding: Finding) -> SourceAnswer {
        guard case .gives(let until, _) = self else { return self }
        return .gives(until: until, finding)
    }
}
