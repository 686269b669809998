import Foundation

/// Rule D of Docs/decision-rules.md: whether an acquisition of the app gives an entitlement, because of the eras
/// (periods with one business model) in which it can have happened.
///
/// For example, a customer got build 37 in May 2014. Version and date both prove the era `paid`. The entitlement
/// `everything` has `honors: [paid]`, so the answer is: granted, because of `eraHonored`. If the date were missing and
/// build 37 was on sale in both eras, `paid` and `free` would be possible, and the policy's `inDoubt` would decide.
///
/// `EraSource` is a class because the decisions on all entitlements share it.
final class EraSource {
    let acquisition: Acquisition
    let policy: Policy
    let now: Date
    /// The timelines of the platforms on which the app can have been acquired. There are several timelines only if the
    /// customer's artifacts contain no platform.
    let timelines: [Timeline]
    /// The acquisition's index in `Reason.Context`, by which findings refer to it.
    private let index: AcquisitionIndex
    /// The possible eras by version and date (rule C), on the platforms of all timelines together.
    let possible: PossibleEras
    /// The possible eras by version and date on each platform separately, in the order of `timelines`. Empty if there
    /// is only one platform.
    private let possibleOnPlatform: [PossibleEras]

    init(_ acquisition: Acquisition, index: AcquisitionIndex = 0, under policy: Policy, at now: Date) {
        self.acquisition = acquisition
        self.policy = policy
        self.now = now
        self.index = index
        timelines = policy.timelines.possible(for: acquisition.originalPlatform)
        var version = VersionProof()
        var date = DateProof()
        var possibleOnPlatform: [PossibleEras] = []
        for timeline in timelines {
            let versionHere = VersionProof(of: acquisition.version, on: timeline)
            let dateHere = DateProof(of: acquisition.originalPurchaseDate, on: timeline)
            version.unite(with: versionHere)
            date.unite(with: dateHere)
            if timelines.count > 1 { possibleOnPlatform.append(PossibleEras(version: versionHere, date: dateHere)) }
        }
        possible = PossibleEras(version: version, date: date)
        self.possibleOnPlatform = possibleOnPlatform
    }

    /// Returns what the eras give after refunds and ended licenses (rule E), and the findings about version and date.
    func answer(for entitlement: Entitlement) -> (answer: SourceAnswer, findings: [Finding]) {
        // Whether the exception in rule C1 adds the date's eras to the version's eras.
        let yields = possible.isVersionAuthoritative && versionYields(in: possible, for: entitlement, on: nil)
        let eras = yields ? possible.erasOfBoth : possible.eras
        var answer = answer(for: entitlement, inEras: eras)
        // Use `endings` only if necessary: it copies the acquisition, which is expensive.
        let canEnd = acquisition.refund != nil || acquisition.expirationDate != nil
        let givesNothing = if case .notGranted = answer { true } else { false }
        if canEnd, !givesNothing { answer = endings.apply(to: answer, for: entitlement) }
        return (answer, proofs(eras, versionYields: yields))
    }

    /// Rule E: how refunds and ended licenses end the rights of this acquisition.
    var endings: Endings { Endings(acquisition: acquisition, timelines: timelines, policy: policy, now: now) }

    /// Rule D1: returns what the possible eras give together, before refunds and ended licenses.
    private func answer(for entitlement: Entitlement, inEras eras: EraSet) -> SourceAnswer {
        if eras.isDisjoint(with: entitlement.honoredEras) { return .notGranted(.eraNotHonored(eras)) }
        // What each era gives, on each platform on which the era is evaluated.
        var summary = HonorSummary()
        for era in eras {
            if entitlement.unlimitedEras.contains(era) {
                summary.add(.granted(until: nil, .eraHonored(eras)), of: era, under: policy)
                continue
            }
            for timeline in platforms(allowing: era, for: entitlement) {
                summary.add(answer(for: era, on: timeline, for: entitlement), of: era, under: policy)
            }
        }
        // No era honors the entitlement for certain. If an era is unclear, the answer is undetermined.
        guard !summary.honoredEras.isEmpty else {
            return summary.firstUnclear.map { .undetermined($0) }
                ?? .notGranted(summary.firstRefusal ?? .eraNotHonored(eras))
        }
        // If all eras honor the entitlement, it is granted. If only some eras honor it, `inDoubt` decides, unless
        // nothing could be compared.
        if summary.erasWithoutHonor.isEmpty { return .granted(until: summary.end ?? nil, .eraHonored(eras)) }
        guard possible.version.wasCompared || possible.date.wasCompared else { return .undetermined(.nothingToCompare) }
        let doubt = Finding.inDoubt(honored: summary.honoredEras, others: summary.erasWithoutHonor)
        return policy.inDoubt == .favorCustomer ? .granted(until: summary.end ?? nil, doubt) : .undetermined(doubt)
    }

    /// Returns what one era gives to this acquisition on one platform.
    private func answer(for era: Int, on timeline: Timeline, for entitlement: Entitlement) -> SourceAnswer {
        entitlement.answer(for: acquisition.originalPurchaseDate, inEra: era, on: timeline, under: policy, at: now)
    }

    /// The timelines of the platforms on which an era is evaluated (rule D3): the platforms on which the era is
    /// possible by rule C applied to that platform alone. If the era is possible on no platform, all timelines.
    ///
    /// For example, a receipt without a platform contains version 1.9 and May 2014, and `paid` is possible on iOS and
    /// on macOS. So the end of `for: P1Y` is computed on both platforms, and rule D4 chooses one of the two ends.
    private func platforms(allowing era: Int, for entitlement: Entitlement) -> [Timeline] {
        guard timelines.count > 1 else { return timelines }
        let allowing = timelines.indices.filter { timelineIndex in
            let here = possibleOnPlatform[timelineIndex]
            if here.eras.contains(era) { return true }
            return here.isVersionAuthoritative && here.erasOfBoth.contains(era)
                && versionYields(in: here, for: entitlement, on: timelines[timelineIndex])
        }
        return allowing.isEmpty ? timelines : allowing.map { timelines[$0] }
    }

    /// Whether the exception in rule C1 applies to a version that overrode the date. It applies under `favorCustomer`
    /// if the eras of the version give nothing, and the eras of the date may give the entitlement. The eras of the date
    /// are then possible, too.
    ///
    /// - Parameter timeline: the only platform on which eras are evaluated; nil for all platforms that allow the era.
    private func versionYields(
        in possible: PossibleEras, for entitlement: Entitlement, on timeline: Timeline?
    ) -> Bool {
        guard policy.inDoubt == .favorCustomer else { return false }
        func mayGive(_ eras: EraSet) -> Bool {
            eras.intersection(entitlement.honoredEras).contains { era in
                let evaluated = timeline.map { [$0] } ?? platforms(allowing: era, for: entitlement)
                return evaluated.contains {
                    if case .notGranted = answer(for: era, on: $0, for: entitlement) { false } else { true }
                }
            }
        }
        return !mayGive(possible.version.eras) && mayGive(possible.date.eras)
    }

    /// Returns what version and date prove, in the order of the reasons: first whether they contradict each other, then
    /// the version, the date, and a preorder.
    ///
    /// - Parameters:
    ///   - eras: the possible eras, by which the entitlement was decided.
    ///   - versionYields: whether the exception in rule C1 applied.
    private func proofs(_ eras: EraSet, versionYields: Bool) -> [Finding] {
        var findings: [Finding] = []
        findings.reserveCapacity(4)
        let date = acquisition.originalPurchaseDate
        if let date, !possible.date.windowEras.isEmpty {
            findings.append(.changeover(date, eras: eras))
        } else if let contradiction = possible.contradiction {
            findings.append(versionYields ? .contradiction : contradiction)
        }
        if acquisition.originalAppVersion == nil {
            findings.append(.versionMissing)
        } else if acquisition.version == nil {
            findings.append(.versionMalformed(index))
        } else if let platform = acquisition.originalPlatform, timelines.first?.platform == nil {
            findings.append(.platformNotInPolicy(platform))
        } else if possible.version.wasCompared {
            findings.append(.version(index, eras: possible.version.eras))
        } else {
            findings.append(possible.version.isUnlisted ? .versionNotListed(index) : .versionNotComparable(index))
        }
        findings.append(date.map { .date($0, eras: possible.date.eras) } ?? .dateMissing)
        if let preorderDate = acquisition.preorderDate { findings.append(.preorder(preorderDate)) }
        return findings
    }

    /// Rule G2 of Docs/decision-rules.md: the steps that can resolve an undetermined answer about this acquisition of
    /// the app.
    ///
    /// - Parameter finding: the reason for the undetermined answer.
    func nextSteps(resolving finding: Finding) -> [NextStep] {
        if case .boughtAgainInDoubt = finding { return [.support] }
        if acquisition.version == nil || acquisition.originalPurchaseDate == nil {
            return [.appTransaction, .refreshedReceipt]
        }
        return timelines.count > 1 ? [.appTransaction, .support] : [.support]
    }
}

/// Collects what each possible era gives on each platform, for rule D1.
private struct HonorSummary {
    /// The eras that honor the entitlement on at least one platform.
    var honoredEras = EraSet()
    /// The eras that don't honor the entitlement, or possibly don't, on at least one platform.
    var erasWithoutHonor = EraSet()
    /// When the right ends by rule D4; `.some(nil)` if never, nil if no era honors the entitlement.
    var end: Date??
    /// The first reason for which it is unclear whether an era honors the entitlement.
    var firstUnclear: Finding?
    /// The first reason for which an era with an honor gives nothing, such as an honor that has ended.
    var firstRefusal: Finding?

    /// Adds what one era gives on one platform.
    mutating func add(_ answer: SourceAnswer, of era: Int, under policy: Policy) {
        switch answer {
        case .granted(let until, _):
            honoredEras.insert(era)
            end = .some(end.map { policy.favored($0, until) } ?? until)
        case .undetermined(let finding):
            erasWithoutHonor.insert(era)
            firstUnclear = firstUnclear ?? finding
        case .notGranted(let finding):
            erasWithoutHonor.insert(era)
            if case .eraNotHonored = finding { return }
            firstRefusal = firstRefusal ?? finding
        }
    }
}
