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
        let honoured = possible.eras.intersection(entitlement.honouredEras)
        guard !honoured.isEmpty else { return .nothing(.eraNotHonoured(possible.eras)) }

        var giving = honoured.intersection(entitlement.unlimitedEras)
        var unclear: Finding?
        var refused: Finding?
        var end: Date?? = giving.isEmpty ? nil : .some(nil)
        for era in honoured.subtracting(giving) {
            switch answer(of: entitlement.honours ?? [], era: era) {
            case .gives(let until, _):
                giving.insert(era)
                end = end.map { favoured($0, until) } ?? .some(until)
            case .undetermined(let finding): unclear = unclear ?? finding
            case .nothing(let finding): refused = refused ?? finding
            }
        }
        if giving.isEmpty {
            if let unclear { return .undetermined(unclear) }
            return .nothing(refused ?? .eraNotHonoured(possible.eras))
        }
        if giving == possible.eras {
            return .gives(until: end ?? nil, .eraHonoured(giving))
        }
        guard possible.somethingWasCompared else { return .undetermined(.nothingToCompare) }
        let doubt = Finding.inDoubt(
            honoured: giving,
            others: possible.eras.subtracting(giving)
        )
        return policy.inDoubt == .favourCustomer ? .gives(until: end ?? nil, doubt) : .undetermined(doubt)
    }

    /// Rule E.
    private func endings(of answer: SourceAnswer, for entitlement: Entitlement) -> SourceAnswer {
        var answer = answer
        if let licence = acquisition.expirationDate {
            if licence <= now { return .nothing(.licenceEnded(at: licence)) }
            answer = answer.ending(at: licence)
        }
        guard let refund = acquisition.refund else { return answer }
        switch Restoration(of: refund, for: entitlement, possible: possible) {
        case .certain(let signed):
            return answer.explained(by: .boughtAgain(signed: signed))
        case .inDoubt(let signed):
            guard refund.revocationDate <= now else { return answer }
            return policy.inDoubt == .favourCustomer
                ? answer.explained(by: .boughtAgainInDoubt(signed: signed))
                : .undetermined(.boughtAgainInDoubt(signed: signed))
        case .none:
            if refund.revocationDate <= now { return .nothing(.appRefunded(at: refund.revocationDate)) }
            return answer.ending(at: refund.revocationDate)
        }
    }

    /// Where several platforms or eras give different ends.
    func favoured(_ one: Date?, _ other: Date?) -> Date? {
        let favoursLater = policy.inDoubt == .favourCustomer
        return one.outlasts(other) == favoursLater ? one : other
    }
}

/// Rule E: whether the app was bought again after a refund.
private enum Restoration {
    case certain(signed: Date)
    case inDoubt(signed: Date)
    case none

    init(of refund: Acquisition.Refund, for entitlement: Entitlement, possible: PossibleEras) {
        for signed in refund.restorations
        where possible.timelines.allSatisfy({ $0.onlySold(entitlement.honouredEras, at: signed) }) {
            self = .certain(signed: signed)
            return
        }
        for signed in refund.restorations
        where possible.timelines.contains(where: {
            $0.canHaveSold(entitlement.honouredEras, after: refund.revocationDate, until: signed)
        }) {
            self = .inDoubt(signed: signed)
            return
        }
        self = .none
    }
}

extension Timeline {
    /// Whether an app got at that instant was certainly got in one of these eras. In a changeover window both eras
    /// were on sale.
    fileprivate func onlySold(_ honoured: EraSet, at date: Date) -> Bool {
        if let both = changeover(at: date) { return !both.isDisjoint(with: honoured) }
        return eras(at: date).isSubset(of: honoured)
    }

    /// Whether one of these eras was on sale at some instant after the first and up to the second.
    fileprivate func canHaveSold(_ honoured: EraSet, after start: Date, until end: Date) -> Bool {
        honoured.intersection(allEras).contains { era in
            let sale = sale(of: era)
            return sale.begin <= end && sale.end > start
        }
    }
}

extension SourceAnswer {
    fileprivate func explained(by finding: Finding) -> SourceAnswer {
        guard case .gives(let until, _) = self else { return self }
        return .gives(until: until, finding)
    }
}
