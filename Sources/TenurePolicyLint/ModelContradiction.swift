import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// Releases with another price model in the release list than the era to which the policy assigns them: paid releases
/// in a free era, or free releases in a paid era.
///
/// Eras are given by their index in the policy. Rules such as C1 are in Docs/decision-rules.md.
struct ModelContradiction {
    /// The price model of the releases according to the list: `paid` or `free`.
    let model: Era.Model
    /// The first of the eras to which the policy assigns the releases.
    let era: Int
    /// The era to which the releases should belong because of their model: the era of their date, or else the nearest
    /// era. Nil if no era has that model.
    let intendedEra: Int?
    /// Whether a date, not the version, causes the contradiction. It does in three cases:
    /// 1. The version is possible in every era.
    /// 2. The version fits an era with the right model, but the release came out in no such era. For example, its date
    ///    is earlier, and an early date takes precedence (rule C1).
    /// 3. The version fits an era with the right model, but the dates in the policy's release list exclude that era.
    let isByDate: Bool
    /// The releases, in the order of their dates.
    private(set) var releases: [ListedRelease]
    /// The names of the entitlements that buyers of paid releases would have in `intendedEra`, and don't have in `era`.
    private(set) var lostEntitlements: Set<String> = []
    /// The names of the entitlements that customers of free releases get although they haven't paid.
    private(set) var unpaidEntitlements: Set<String> = []
    /// Whether buyers with a known purchase date lose nothing.
    private(set) var datesHelp = true

    /// The numbers of the releases in ascending order.
    var numbers: [AppVersion] { Set(releases.compactMap(\.release.originalAppVersion)).sorted() }

    /// Adds the releases of another contradiction that belongs to this group.
    fileprivate mutating func add(_ other: ModelContradiction) {
        releases += other.releases
        lostEntitlements.formUnion(other.lostEntitlements)
        unpaidEntitlements.formUnion(other.unpaidEntitlements)
        datesHelp = datesHelp && other.datesHelp
    }

    /// Whether both contradictions are reported as one finding.
    fileprivate func belongsTogether(_ other: ModelContradiction) -> Bool {
        model == other.model && era == other.era && intendedEra == other.intendedEra && isByDate == other.isByDate
            && lostEntitlements.isEmpty == other.lostEntitlements.isEmpty
    }

    /// Examines one release; nil if the release and its era have the same model, or if too little is known.
    fileprivate init?(_ listed: ListedRelease, on platform: LintPlatform, in subject: LintSubject) {
        guard let model = listed.release.model, let number = listed.release.originalAppVersion else { return nil }
        let proven = platform.eras(provenBy: number)
        let byDate = platform.era(of: listed.release)
        let dated = byDate.map { EraSet(from: $0, to: $0 + 1) }
        func hasModel(_ era: Int) -> Bool { subject.eras[era].model == model }
        // The version decides, unless it proves nothing, or fits an era with the model, but the date fits none.
        let isDateContradicted = platform.contradictsDate(of: listed.release, among: subject.eras)
        let dateDecides: Bool
        if let proven {
            dateDecides = proven.contains(where: hasModel) && isDateContradicted
        } else {
            // The version is possible in every era. If the policy's own list shows that the release was on sale in an
            // era with its model, only a release that came out in no such era is a contradiction.
            let erasOnSale = platform.timeline.erasOfRelease?[number] ?? EraSet()
            if erasOnSale.contains(where: hasModel), !isDateContradicted { return nil }
            dateDecides = true
        }
        guard let possible = dateDecides ? dated : proven, let era = possible.first,
            !possible.contains(where: hasModel),
            !possible.contains(where: { subject.draft.isBroken(["eras", .index($0), "model"]) })
        else { return nil }
        self.model = model
        self.era = era
        isByDate =
            dateDecides
            || (platform.decidesByList && platform.timeline.eras(enclosing: number).contains(where: hasModel))
        releases = [listed]
        intendedEra = byDate.flatMap { hasModel($0) ? $0 : nil } ?? subject.era(of: model, near: era)
        let rights = subject.rights(of: model, in: intendedEra)
        let honored = Set(possible.flatMap { subject.entitlementsHonoring(era: $0) })
        func granted(bought date: Date?) -> Set<String> {
            subject.entitlementNames(.granted, number, on: platform.platform, bought: date).map { Set($0) } ?? honored
        }
        let (byVersion, atRelease) = (granted(bought: nil), granted(bought: listed.release.lateInstant))
        switch model {
        case .paid:
            lostEntitlements = rights.subtracting(dateDecides ? atRelease : byVersion)
            datesHelp = lostEntitlements.isSubset(of: atRelease)
        case .free:
            unpaidEntitlements = (dateDecides ? atRelease : byVersion.union(atRelease)).subtracting(rights)
            // The version alone gives the right era, and the date grants nothing more.
            if dateDecides, proven != nil, unpaidEntitlements.isEmpty { return nil }
        }
    }
}

extension LintPlatform {
    /// Whether the release came out in no era with its price model, and in no changeover window of such an era. A
    /// changeover window is the time around a change in which price and build may disagree.
    fileprivate func contradictsDate(of release: Release, among eras: [Era]) -> Bool {
        guard let model = release.model, era(of: release) != nil else { return false }
        let first = release.releasedAt.sortingDate
        // In the last time zone (UTC−12), a day ends 36 hours after its beginning in UTC.
        let end = release.releasedAt.isInstant ? first : first.addingTimeInterval(36 * 3600)
        // A release that is sold may come out some days before the price changes, so a paid era may begin a week later.
        let last = model == .paid ? end.addingTimeInterval(7 * 86_400) : end
        let windows = timeline.changeover(at: first).union(timeline.changeover(at: last))
        return !timeline.eras(at: last).union(windows).contains { eras[$0].model == model }
    }
}

extension LintSubject {
    /// Returns the releases on a platform that have another price model than every era to which they may belong, in
    /// groups that are reported together.
    func contradictions(on platform: LintPlatform) -> [ModelContradiction] {
        let models = Dictionary(grouping: platform.releases) { $0.release.originalAppVersion }
            .mapValues { Set($0.compactMap(\.release.model)) }
        // The highest number among the paid releases so far. A later paid era may follow a free era.
        var highestPaid: AppVersion?
        var groups: [ModelContradiction] = []
        for listed in platform.releases {
            let release = listed.release
            guard let number = release.originalAppVersion else { continue }
            if release.model == .paid { highestPaid = max(number, highestPaid ?? number) }
            // Skip a release that was first sold and then free, because it belongs to both eras.
            guard models[number]?.count == 1 else { continue }
            // Skip free builds below earlier paid builds, because other rules report these builds.
            if release.model == .free, let highestPaid, number <= highestPaid, let era = platform.era(of: release),
                eras[era].model == .free
            {
                continue
            }
            guard let contradiction = ModelContradiction(listed, on: platform, in: self) else { continue }
            if let index = groups.firstIndex(where: { $0.belongsTogether(contradiction) }) {
                groups[index].add(contradiction)
            } else {
                groups.append(contradiction)
            }
        }
        return groups
    }

    /// Returns the nearest era with a price model: for `paid`, before `era` if possible; for `free`, after it if
    /// possible. Nil if no era has the model.
    fileprivate func era(of model: Era.Model, near era: Int) -> Int? {
        let alike = eras.indices.filter { eras[$0].model == model }
        return model == .paid ? (alike.last { $0 < era } ?? alike.first) : (alike.first { $0 > era } ?? alike.last)
    }

    /// Returns the names of the entitlements that customers of `era` should have if they got the app with a price
    /// model.
    ///
    /// - Parameter era: an era with that model; nil if the policy has none.
    fileprivate func rights(of model: Era.Model, in era: Int?) -> Set<String> {
        if let era { return Set(entitlementsHonoring(era: era)) }
        // If the policy has no paid era, use the entitlements that buyers could buy again.
        return model == .paid ? Set(entitlements.filter { !$0.products.isEmpty }.map(\.name)) : []
    }

    /// Returns the era with the wrong beginning. Either the era to which the policy assigns the releases begins too
    /// early, or the later era to which they should belong begins too late.
    func misplacedEra(_ group: ModelContradiction) -> Int {
        group.intendedEra.flatMap { $0 > group.era ? $0 : nil } ?? group.era
    }

    /// Returns a fix that moves the beginning of an era: a free era to the first release above the paid releases, or a
    /// paid era to its first release. If the date is wrong, the fix corrects only the date. Nil if the policy or the
    /// list lacks the number or date for the fix.
    func fixMovingBoundary(of group: ModelContradiction, on platform: LintPlatform) -> LintFix? {
        let era = misplacedEra(group)
        if group.isByDate { return EraChange(to: era, on: platform, in: self).flatMap(fixCorrectingDate) }
        let listedNumbers = platform.releases.compactMap(\.release.originalAppVersion)
        guard let first = group.numbers.first, let last = group.numbers.last,
            let number = era == group.era ? listedNumbers.filter({ $0 > last }).min() : first,
            eras[era].begins[platform.platform]?.version != nil
        else { return nil }
        let key = platform.noun
        return .suggestion(
            "write `\(key): \"\(number)\"`",
            .write(.string("\(number)"), at: path(ofBeginning: era, on: platform) + [.key(key)]))
    }

    /// Returns advice for the case that the right boundary isn't known or would cause another finding.
    func advice(on group: ModelContradiction, on platform: LintPlatform) -> LintFix {
        let correction = "or correct the release list if the app was free then"
        guard let intendedEra = group.intendedEra else { return "add an era in which the app was sold, \(correction)" }
        let key = platform.noun
        let misplaced = misplacedEra(group)
        let isInherited = platform.platform.inheritsFromIOS && eras[misplaced].begins[platform.platform] == nil
        if isInherited {
            return
                "add `\(platform.name)` under `begins` of \(name(misplaced)), with its own first release, \(correction)"
        }
        if group.isByDate { return "correct `at` of \(name(misplaced)), \(correction)" }
        guard let last = group.numbers.last, intendedEra < group.era else {
            return "begin \(name(intendedEra)) with \(key) \(group.numbers.first.map { "\($0)" } ?? ""), \(correction)"
        }
        // A boundary above the last paid release would be above later free releases too.
        let isAboveLater = platform.releases.contains { later in
            later.release.model == .free && (later.release.originalAppVersion.map { $0 <= last } ?? false)
                && group.releases.contains { $0.release.releasedAt.sortingDay < later.release.releasedAt.sortingDay }
        }
        if isAboveLater {
            return
                "let the dates decide, by a complete release list in the policy\(key == "build" ? " and `buildNumbers: restarted`" : ""), \(correction)"
        }
        return "begin \(name(group.era)) above \(key) \(last), with its own first release, \(correction)"
    }
}
