public import Foundation

/// What a customer may use: one decision for each entitlement of the policy, in its order, then one for each
/// entitlement that only a promise still names.
///
/// Pure and total: no clock, no error, and the same answer for the same facts in any order.
public func decide(
    _ evidence: Evidence, promises: [Promise] = [], under policy: Policy, at now: Date
) -> [Decision] {
    let judge = Judge(evidence, promises: promises, policy: policy, now: now)
    var decisions: [Decision] = []
    decisions.reserveCapacity(policy.entitlements.count)
    // By place: a copy of an entitlement retains what all cores count.
    let entitlements = policy.entitlements
    for index in entitlements.indices { decisions.append(judge.decision(on: entitlements[index])) }
    // Renaming or deleting an entitlement is a policy edit: what was promised under the old name stands.
    var orphans: Set<String> = []
    for promise in judge.promises where !entitlements.contains(where: { $0.name == promise.entitlement }) {
        orphans.insert(promise.entitlement)
    }
    for name in orphans.sorted() {
        let title = judge.promises.lazy.compactMap { $0.policy.entitlement(named: name)?.title }.first
        decisions.append(judge.decision(on: Entitlement(name: name, title: title)))
    }
    return decisions
}

/// Everything that the entitlements of one customer have in common.
private struct Judge {
    let evidence: Evidence
    let promises: [Promise]
    let policy: Policy
    let now: Date
    private let eraSources: [EraSource]
    /// Said of every decision: that the environment, or a persona, stood in.
    private let notes: [Finding]
    private let context: Reason.Context

    init(_ evidence: Evidence, promises: [Promise], policy: Policy, now: Date) {
        self.evidence = evidence
        self.policy = policy
        self.now = now
        var notes: [Finding] = []
        var judged = evidence.acquisitions
        if evidence.environment.isProduction {
            self.promises = promises
            eraSources = judged.enumerated().map { EraSource($0.element, index: $0.offset, under: policy, at: now) }
            if evidence.persona != nil { notes.append(.personaRefused) }
        } else {
            // Rule I: test environments make and keep no promises, and eras are never read from their evidence.
            self.promises = []
            if let acquisition = evidence.personaAcquisition, !evidence.isEmpty {
                judged = [acquisition]
                eraSources = [EraSource(acquisition, under: policy, at: now)]
                notes.append(.persona)
            } else {
                eraSources = []
                if evidence.persona != nil { notes.append(.personaRefused) }
            }
        }
        self.notes = notes
        context = Reason.Context(evidence, judged: judged, under: policy)
    }

    func decision(on entitlement: Entitlement) -> Decision {
        let support = supportAnswer(on: entitlement)
        if case .nothing(.supportRevocation) = support {
            return decision(on: entitlement, .denied, findings: [.supportRevocation])
        }
        var rights: [EraRight] = []
        let (eras, source) = eraAnswer(on: entitlement, rights: &rights)
        let products = productAnswer(on: entitlement)

        // Rule G: sources combine by OR; the one that gives longest leads.
        let promised = promiseAnswer(on: entitlement)
        let best = SourceAnswer.best(SourceAnswer.best(eras, products.best), SourceAnswer.best(support, promised))

        var findings: [Finding] = []
        findings.reserveCapacity(8)
        if case .gives(let until, let finding)? = best {
            findings.append(finding)
            if let giving = products.giving, evidence.purchases[giving].isFamilyShared, finding.isOfProduct {
                findings.append(.familyShared(giving))
            }
            if let eras, case .gives = eras {
                if eras.finding != finding { findings.append(eras.finding) }
                if let source { findings += source.possible.findings }
            }
            var isPromised = false
            if case .gives(let promisedUntil, _)? = promised { isPromised = !until.outlasts(promisedUntil) }
            return decision(
                on: entitlement, .granted, until: until, findings: findings, rights: rights, isPromised: isPromised)
        }

        findings.append(eras?.finding ?? .noHonors)
        let productsMatter = !entitlement.products.isEmpty
        let purchasesAreKnown = evidence.purchasesAreComplete || !productsMatter
        let refusals = findings.count
        appendRefusals(on: entitlement, to: &findings)
        if productsMatter, findings.count == refusals, evidence.purchasesAreComplete { findings.append(.noPurchase) }
        if !purchasesAreKnown { findings.append(.purchasesIncomplete) }
        if let support { findings.append(support.finding) }
        if let promised { findings.append(promised.finding) }
        if let source { findings += source.possible.findings }

        if case .undetermined(let finding)? = eras {
            var settlements = settlements(of: finding, source)
            if !purchasesAreKnown { settlements.append(.purchases) }
            return decision(on: entitlement, .undetermined, findings: findings, settlements: settlements)
        }
        return purchasesAreKnown
            ? decision(on: entitlement, .denied, findings: findings)
            : decision(on: entitlement, .undetermined, findings: findings, settlements: [.purchases])
    }

    // MARK: The sources

    /// The best of the customer's acquisitions, with the one that gave it; nil where eras are no source.
    private func eraAnswer(on entitlement: Entitlement, rights: inout [EraRight]) -> (SourceAnswer?, EraSource?) {
        guard entitlement.honors != nil else { return (nil, nil) }
        guard evidence.environment.isProduction || !eraSources.isEmpty else {
            return (testEnvironmentAnswer(on: entitlement), nil)
        }
        guard let first = eraSources.first else { return (.undetermined(.noAcquisition), nil) }
        var best = (first.answer(for: entitlement), first)
        note(best.0, of: first, in: &rights)
        for source in eraSources.dropFirst() {
            let answer = source.answer(for: entitlement)
            note(answer, of: source, in: &rights)
            if answer.isBetter(than: best.0) || answer.isMoreTelling(than: best.0) { best = (answer, source) }
        }
        return best
    }

    private func note(_ answer: SourceAnswer, of source: EraSource, in rights: inout [EraRight]) {
        guard case .gives(let until, _) = answer, evidence.environment.isProduction, source.acquisition.key.isKnown
        else { return }
        let right = EraRight(acquisition: source.acquisition.key, until: until)
        if rights.isEmpty { rights = [right] } else { rights.append(right) }
    }

    /// Rule I.
    private func testEnvironmentAnswer(on entitlement: Entitlement) -> SourceAnswer {
        let finding = Finding.testEnvironment
        switch policy.testEnvironments {
        case .newCustomer: return .nothing(finding)
        case .undetermined: return .undetermined(finding)
        case .owner:
            guard let era = entitlement.honoredEras.first else { return .nothing(finding) }
            let name = policy.eras[era].name
            let isUnlimited = (entitlement.honors ?? []).contains { $0.era == name && $0.isUnlimited }
            return isUnlimited ? .gives(until: nil, finding) : .undetermined(finding)
        }
    }

    /// The purchase that gives longest.
    private func productAnswer(on entitlement: Entitlement) -> ProductAnswer {
        var result = ProductAnswer()
        for product in entitlement.products {
            for index in evidence.purchases.indices where evidence.purchases[index].isOf(product) {
                let answer = evidence.purchases[index].answer(as: product, at: index, now: now)
                guard case .gives = answer else { continue }
                if let known = result.best, !answer.isBetter(than: known) { continue }
                result.best = answer
                result.giving = index
            }
        }
        return result
    }

    /// Why none of the purchases gives, the latest first.
    private func appendRefusals(on entitlement: Entitlement, to findings: inout [Finding]) {
        for product in entitlement.products {
            for index in evidence.purchases.indices.reversed() where evidence.purchases[index].isOf(product) {
                findings.append(evidence.purchases[index].answer(as: product, at: index, now: now).finding)
            }
        }
    }

    private func supportAnswer(on entitlement: Entitlement) -> SourceAnswer? {
        guard let act = evidence.support.first(where: { $0.entitlement == entitlement.name }) else { return nil }
        switch act.kind {
        case .revocation: return .nothing(.supportRevocation)
        case .grant:
            if let until = act.until, until <= now { return .nothing(.supportGrantEnded(at: until)) }
            return .gives(until: act.until, .supportGrant(until: act.until))
        }
    }

    private func promiseAnswer(on entitlement: Entitlement) -> SourceAnswer? {
        var best: SourceAnswer?
        for promise in promises where promise.entitlement == entitlement.name {
            guard let answer = promise.answer(for: evidence, judged: eraSources, at: now) else { continue }
            if let known = best, !answer.isBetter(than: known) { continue }
            best = answer
        }
        return best
    }

    // MARK: The answer

    private func settlements(of finding: Finding, _ source: EraSource?) -> [Settlement] {
        let acquisition = source?.acquisition
        switch finding {
        case .noAcquisition, .windowNeedsDate: return [.appTransaction, .refreshedReceipt]
        case .nothingToCompare where acquisition?.version == nil || acquisition?.originalPurchaseDate == nil:
            return [.appTransaction, .refreshedReceipt]
        // The signed platform may tell what the doubt is between.
        case .inDoubt where acquisition?.originalPlatform == nil && (source?.possible.timelines.count ?? 0) > 1:
            return [.appTransaction, .support]
        default: return [.support]
        }
    }

    private func decision(
        on entitlement: Entitlement, _ outcome: Decision.Outcome, until: Date? = nil, findings: [Finding],
        settlements: [Settlement] = [], rights: [EraRight] = [], isPromised: Bool = false
    ) -> Decision {
        Decision(
            entitlement: entitlement.name, title: entitlement.title, outcome: outcome, until: until,
            findings: notes.isEmpty ? findings : findings + notes, context: context, settlements: settlements,
            eraRights: rights, isPromised: isPromised)
    }
}

private struct ProductAnswer {
    var best: SourceAnswer?
    /// The place of the purchase that gives longest.
    var giving: Int?
}

extension Finding {
    fileprivate var isOfProduct: Bool {
        switch self {
        case .product, .gracePeriod: true
        default: false
        }
    }
}
