import Foundation
import TenureCore
import TenurePolicyFile

/// What the rules look at: the file, the releases that really were, and the eras as each platform saw them.
struct LintSubject: Sendable {
    let draft: PolicyDraft
    /// Nil where mistakes keep the file from being a policy: then nobody can be decided about.
    let policy: Policy?
    /// The policy before this one.
    let old: Policy?
    let now: Date
    /// What existing customers would lose; nil where there is nothing to compare with.
    let rights: RightsComparison?
    /// In a fixed order: those that the policy names, and those of the release list.
    let platforms: [LintPlatform]
    /// Whether there is any release list.
    let hasList: Bool

    var eras: [Era] { draft.eras }
    var entitlements: [Entitlement] { draft.entitlements }

    /// Nil where too little could be read to say anything.
    init?(draft: PolicyDraft, releases: [ListedRelease]?, old: Policy?, now: Date) {
        guard !draft.eras.isEmpty, draft.eras.count <= EraSet.capacity,
            !draft.eras.indices.contains(where: { draft.isBroken(["eras", .index($0), "name"]) })
        else { return nil }
        self.draft = draft
        policy = draft.policy
        self.old = old
        self.now = now
        rights = old.flatMap { old in draft.policy.map { RightsComparison(from: old, to: $0, at: now) } }
        let list = releases ?? draft.releases
        hasList = !list.isEmpty
        let timelines =
            draft.policy?.timelines
            ?? Timelines(eras: draft.eras, releases: draft.releases.map(\.release), buildNumbers: draft.buildNumbers)
        let named = Set(draft.eras.flatMap(\.begins.keys))
        let listed = Set(list.map(\.release.platform))
        platforms = Platform.allCases.compactMap { platform in
            guard named.contains(platform) || listed.contains(platform) else { return nil }
            return timelines.possible(for: platform).first.map {
                LintPlatform(platform, timeline: $0, eras: draft.eras, list: list)
            }
        }
    }

    /// Every change from one era to the next, on every platform where it has a beginning of its own or inherits one.
    var changes: [EraChange] {
        platforms.flatMap { platform in
            eras.indices.dropFirst().compactMap { EraChange(to: $0, on: platform, in: self) }
        }
    }

    /// The same once for each era where platforms share a beginning: where it is written.
    var writtenChanges: [EraChange] { changes.filter { eras[$0.index].begins[$0.platform.platform] != nil } }

    func name(_ era: Int) -> String { eras.indices.contains(era) ? "`\(eras[era].name.shortened)`" : "no era" }

    /// The entitlements that some honor gives to those who came in the era.
    func honored(in era: Int) -> [String] {
        guard eras.indices.contains(era) else { return [] }
        return entitlements.filter { ($0.honors ?? []).contains { $0.era == eras[era].name } }.map(\.name)
    }

    /// Whether everybody who has the app has the entitlement for good.
    func isForEverybody(_ entitlement: Entitlement) -> Bool {
        let unlimited = Set((entitlement.honors ?? []).filter(\.isUnlimited).map(\.era))
        return eras.allSatisfy { unlimited.contains($0.name) }
    }

    // MARK: Customers that do not exist

    /// The entitlements that whoever acquired the app so would be granted, for its era alone; nil where nobody can be
    /// decided about.
    func granted(_ version: AppVersion?, on platform: Platform?, bought date: Date?) -> [String]? {
        guard let policy else { return nil }
        let proof = AppProof(
            kind: .appTransaction, signedDate: date, originalPlatform: platform,
            originalAppVersion: version?.description, originalPurchaseDate: date)
        let evidence = Evidence(environment: .production, app: [proof], purchasesAreComplete: true)
        // Before any honor of limited length has ended.
        return decide(evidence, under: policy, at: .distantPast).filter { $0.outcome == .granted }.map(\.entitlement)
    }

    /// What somebody gets beyond what the date alone would give.
    func givenAway(_ version: AppVersion, on platform: Platform, bought date: Date) -> [String] {
        guard let byBoth = granted(version, on: platform, bought: date),
            let byDate = granted(nil, on: platform, bought: date)
        else { return [] }
        return byBoth.filter { !byDate.contains($0) }
    }

    /// The same of whoever got a release while it was the one to get; the first of what is given away.
    func givenAway(_ release: Release, on platform: LintPlatform) -> [String] {
        guard let number = release.originalAppVersion else { return [] }
        let sale = platform.sale(of: release)
        return platform.moments(from: release.lateInstant, until: sale.until).lazy
            .map { givenAway(number, on: platform.platform, bought: $0) }
            .first { !$0.isEmpty } ?? []
    }
}

/// The beginning of an era on one platform.
struct EraChange: Sendable {
    /// Of the era that begins.
    let index: Int
    /// Of the era before it on the platform.
    let previous: Int
    let platform: LintPlatform
    let before: Era
    let after: Era
    let version: AppVersion?
    let date: Date?
    /// Where it is written.
    let path: [PolicyMistake.Step]
    /// The entitlements that the era before gives and this one does not.
    let lost: [String]
    /// The entitlements that this era gives and the one before does not.
    let gained: [String]

    /// Whether it makes a difference to anybody in which of both eras they came.
    var matters: Bool { !lost.isEmpty || !gained.isEmpty }

    init?(to index: Int, on platform: LintPlatform, in subject: LintSubject) {
        let beginnings = platform.timeline.beginnings
        guard beginnings.indices.contains(index), index > platform.timeline.firstEra,
            case .at(let version, let date)? = beginnings[index],
            let previous = platform.timeline.eras.last(before: index)
        else { return nil }
        self.index = index
        self.previous = previous
        self.platform = platform
        self.version = version
        self.date = date
        before = subject.eras[previous]
        after = subject.eras[index]
        let written = after.begins[platform.platform] == nil ? Platform.iOS : platform.platform
        path = ["eras", .index(index), "begins", .key(written.rawValue)]
        let earlier = subject.honored(in: previous)
        let later = subject.honored(in: index)
        lost = earlier.filter { !later.contains($0) }
        gained = later.filter { !earlier.contains($0) }
    }
}
