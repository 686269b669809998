public import Foundation

/// Decides what a customer may use. Returns a decision about each entitlement of the policy, in the policy's order,
/// then about each entitlement that is no longer in the policy but in a promise.
///
/// An era is a period in which the app had one business model. A promise is a right from an era, recorded so that later
/// versions of the policy can't take it.
///
/// The function is pure: it reads no clock, throws no error, and returns the same decisions for the same evidence in
/// any order.
///
/// Docs/decision-rules.md has the rules that the comments in this module cite, such as Rule G2.
public func decide(_ evidence: Evidence, promises: [Promise] = [], under policy: Policy, at now: Date) -> [Decision] {
    let evaluator = Evaluator(evidence, promises: promises, policy: policy, now: now)
    // Access by index, because copying an entitlement would change a reference count that all threads share.
    let entitlements = policy.entitlements
    var decisions = entitlements.indices.map { evaluator.decision(on: entitlements[$0]) }
    // If an entitlement was renamed or deleted in the policy, promises under its old name still hold.
    var removedNames: Set<String> = []
    for promise in evaluator.promises where !entitlements.contains(where: { $0.name == promise.entitlement }) {
        removedNames.insert(promise.entitlement)
    }
    for name in removedNames.sorted() {
        let title = evaluator.promises.lazy.compactMap { $0.policy.entitlement(named: name)?.title }.first
        decisions.append(evaluator.decision(on: Entitlement(name: name, title: title)))
    }
    return decisions
}

/// The facts about one customer that the decisions on all entitlements share.
private struct Evaluator {
    let evidence: Evidence
    let promises: [Promise]
    let policy: Policy
    let now: Date
    /// One era source for each acquisition of the app. In a test environment, only the persona's era source, or none.
    private let eraSources: [EraSource]
    /// The last reasons of every decision: that a persona (a test customer) replaced the customer, or was ignored.
    private let notes: [Finding]
    /// The values to which the findings refer by index.
    private let context: Reason.Context

    init(_ evidence: Evidence, promises: [Promise], policy: Policy, now: Date) {
        self.evidence = evidence
        self.policy = policy
        self.now = now
        let isProduction = evidence.environment.isProduction
        var evaluated = evidence.acquisitions
        var usesPersona = false
        if !isProduction, !evidence.isEmpty, let persona = evidence.persona {
            evaluated = [Acquisition(of: [persona.proof])]
            usesPersona = true
        }
        // Rules I1 and H5: in test environments, eras aren't read, and promises are neither made nor used. Only the
        // eras of a persona are read.
        self.promises = isProduction ? promises : []
        eraSources =
            isProduction || usesPersona
            ? evaluated.enumerated().map { EraSource($0.element, index: $0.offset, under: policy, at: now) } : []
        if evidence.persona == nil { notes = [] } else { notes = [usesPersona ? .persona : .personaRefused] }
        context = Reason.Context(evidence, evaluated: evaluated, under: policy)
    }

    /// Rule G: combines the sources (eras, products, support and promises) into the decision on one entitlement.
    func decision(on entitlement: Entitlement) -> Decision {
        // Rule G3: a revocation by support overrides all other sources.
        let support = supportAnswer(on: entitlement)
        if case .notGranted(.supportRevocation) = support {
            return decision(on: entitlement, .denied, findings: [.supportRevocation])
        }
        var eras = EraAnswers()
        answerByEras(on: entitlement, into: &eras)
        let products = productAnswer(on: entitlement)
        let promised = promiseAnswer(on: entitlement)

        // One source that grants is enough. The source that grants longest gives the leading reason.
        let best = SourceAnswer.best(SourceAnswer.best(eras.best, products.best), SourceAnswer.best(support, promised))
        var findings: [Finding] = []
        findings.reserveCapacity(8)
        if case .granted(let until, let finding)? = best {
            findings.append(finding)
            if let index = products.index, evidence.purchases[index].isFamilyShared, finding.isOfProduct {
                findings.append(.familyShared(index))
            }
            // Even if another source grants for longer, the reasons also contain what the eras give.
            if case .granted(_, let byEra)? = eras.best {
                if byEra != finding { findings.append(byEra) }
                findings += eras.proofs
            }
            var isPromised = false
            if case .granted(let promisedUntil, _)? = promised { isPromised = !until.outlasts(promisedUntil) }
            return decision(
                on: entitlement, .granted, until: until, findings: findings, rights: eras.rights, isPromised: isPromised
            )
        }

        // Rule G2: no source grants. The outcome is undetermined if a next step could change that, otherwise denied.
        let productsMatter = !entitlement.products.isEmpty
        let purchasesAreComplete = evidence.purchasesAreComplete || !productsMatter
        var steps = NextSteps()
        if !purchasesAreComplete { steps.add([.purchases]) }
        steps.add(eras.nextSteps)
        for case .undetermined(let finding)? in [products.best, promised] {
            findings.append(finding)
            steps.add([.support])
        }
        // The reasons: first what is undetermined, then why the eras and the purchases give nothing.
        let byEras = eras.best?.finding ?? .noHonors
        if case .undetermined? = eras.best { findings.insert(byEras, at: 0) } else { findings.append(byEras) }
        let byPurchases = purchaseFindings(on: entitlement)
        findings += byPurchases.filter { !findings.contains($0) }
        if productsMatter, byPurchases.isEmpty, evidence.purchasesAreComplete { findings.append(.noPurchase) }
        if !purchasesAreComplete { findings.append(.purchasesIncomplete) }
        if let support { findings.append(support.finding) }
        if case .notGranted(let finding)? = promised { findings.append(finding) }
        findings += eras.proofs
        return decision(
            on: entitlement, steps.list.isEmpty ? .denied : .undetermined, findings: findings, nextSteps: steps.list)
    }

    // MARK: The sources

    /// What the eras of the customer's acquisitions give. Each acquisition is decided separately.
    private struct EraAnswers {
        /// The best answer of all acquisitions. Nil if the entitlement doesn't depend on eras.
        var best: SourceAnswer?
        /// The findings about the version and the date of the best acquisition.
        var proofs: [Finding] = []
        /// The next steps for the undetermined answers of all acquisitions.
        var nextSteps: [NextStep] = []
        /// The rights of all acquisitions that the service stores as promises.
        var rights: [EraRight] = []
    }

    /// Rules D and I2: fills in what the eras give. Leaves `answers` empty for an entitlement without `honors`.
    private func answerByEras(on entitlement: Entitlement, into answers: inout EraAnswers) {
        guard let honors = entitlement.honors else { return }
        guard evidence.environment.isProduction || !eraSources.isEmpty else {
            answers.best = honors.isEmpty ? .notGranted(.noHonors) : testEnvironmentAnswer(on: entitlement)
            if case .undetermined? = answers.best { answers.nextSteps = [.support] }
            return
        }
        guard !eraSources.isEmpty else {
            // If the entitlement honors no era, no acquisition can give it.
            answers.best = honors.isEmpty ? .notGranted(.noHonors) : .undetermined(.noAcquisition)
            if !honors.isEmpty { answers.nextSteps = [.appTransaction, .refreshedReceipt] }
            return
        }
        for source in eraSources {
            let (answer, proofs) = source.answer(for: entitlement)
            // The service stores these rights as promises. Leave out rights in test environments, and of acquisitions
            // that can't be identified later.
            if case .granted(let until, _) = answer, evidence.environment.isProduction, source.acquisition.key.isKnown {
                let right = EraRight(acquisition: source.acquisition.key, until: until)
                // Creates an array with one element, because `append` reserves space for several.
                if answers.rights.isEmpty { answers.rights = [right] } else { answers.rights.append(right) }
            }
            if case .undetermined(let finding) = answer { answers.nextSteps += source.nextSteps(resolving: finding) }
            if let best = answers.best, !answer.isBetter(than: best), !answer.isMoreInformative(than: best) { continue }
            answers.best = answer
            answers.proofs = proofs
        }
    }

    /// Rule I2: what eras give in Sandbox and Xcode.
    private func testEnvironmentAnswer(on entitlement: Entitlement) -> SourceAnswer {
        let finding = Finding.testEnvironment
        switch policy.testEnvironments {
        case .newCustomer: return .notGranted(finding)
        case .undetermined: return .undetermined(finding)
        case .owner:
            guard let era = entitlement.honoredEras.first else { return .notGranted(finding) }
            return entitlement.unlimitedEras.contains(era) ? .granted(until: nil, finding) : .undetermined(finding)
        }
    }

    /// Rule F: the answer of the best purchase, and the purchase's index. Both are nil if every purchase gives nothing.
    /// `purchaseFindings` has the reasons.
    private func productAnswer(on entitlement: Entitlement) -> (best: SourceAnswer?, index: PurchaseIndex?) {
        var result: (best: SourceAnswer?, index: PurchaseIndex?)
        for product in entitlement.products {
            for index in evidence.purchases.indices where evidence.purchases[index].isOf(product) {
                let answer = evidence.purchases[index].answer(as: product, at: index, now: now)
                if case .notGranted = answer { continue }
                if let best = result.best, !answer.isBetter(than: best) { continue }
                result = (answer, index)
            }
        }
        return result
    }

    /// The reason of each purchase of the entitlement's products: why it gives nothing, or why that is undetermined. Of
    /// one product, the latest purchase comes first.
    private func purchaseFindings(on entitlement: Entitlement) -> [Finding] {
        entitlement.products.flatMap { product in
            evidence.purchases.indices.reversed().filter { evidence.purchases[$0].isOf(product) }
                .map { evidence.purchases[$0].answer(as: product, at: $0, now: now).finding }
        }
    }

    /// Rule G3: what the latest grant or revocation by support gives. Nil if support granted and revoked nothing.
    private func supportAnswer(on entitlement: Entitlement) -> SourceAnswer? {
        guard let action = evidence.support.first(where: { $0.entitlement == entitlement.name }) else { return nil }
        switch action.kind {
        case .revocation: return .notGranted(.supportRevocation)
        case .grant:
            if let until = action.until, until <= now { return .notGranted(.supportGrantEnded(at: until)) }
            return .granted(until: action.until, .supportGrant(until: action.until))
        }
    }

    /// Rule H: the best answer of the customer's promises about the entitlement. Nil if there is no such promise, or
    /// the end dates of all have passed.
    private func promiseAnswer(on entitlement: Entitlement) -> SourceAnswer? {
        var best: SourceAnswer?
        for promise in promises where promise.entitlement == entitlement.name {
            best = SourceAnswer.best(best, promise.answer(for: evidence.acquisitions, at: now))
        }
        return best
    }

    /// Creates a decision, with `notes` as its last reasons.
    private func decision(
        on entitlement: Entitlement, _ outcome: Decision.Outcome, until: Date? = nil, findings: [Finding],
        nextSteps: [NextStep] = [], rights: [EraRight] = [], isPromised: Bool = false
    ) -> Decision {
        Decision(
            entitlement: entitlement.name, outcome: outcome, until: until, nextSteps: nextSteps, eraRights: rights,
            isPromised: isPromised, title: entitlement.title,
            findings: notes.isEmpty ? findings : findings + notes, context: context)
    }
}
