import Foundation
import TenureCore
import TenurePolicyFile

/// What the rules check: the policy file, the app's releases, and the policy's eras (periods in which the app was paid,
/// or free) on each platform.
struct LintSubject: Sendable {
    let draft: PolicyDraft
    /// The previous policy; nil if the caller passed no previous policy.
    let old: Policy?
    /// The time of the check, or `distantFuture` if the caller passed no time. Customers who come later aren't checked.
    let now: Date
    /// The rights that existing customers would lose; nil if there is no previous policy, or if the file has mistakes.
    let rights: RightsComparison?
    /// The platforms of the policy and of the release list, in the order of `Platform.allCases`.
    let platforms: [LintPlatform]
    /// The releases that the developer listed, in the separate release list or in the policy. Empty if there is no
    /// list.
    let list: [ListedRelease]
    /// The path by which the policy could name the separate list under `releases`. Nil if there is no separate list, if
    /// it has other columns than a policy's list, or if the policy already has a list.
    let listPath: String?

    /// The policy; nil if the file has mistakes. Then the rules can't find out what a customer would get.
    var policy: Policy? { draft.policy }
    var eras: [Era] { draft.eras }
    var entitlements: [Entitlement] { draft.entitlements }

    /// Prepares the input; nil if too little of the file could be read.
    init?(_ input: Linter.Input) {
        let draft = input.draft
        guard !draft.eras.isEmpty, draft.eras.count <= EraSet.capacity,
            !draft.eras.indices.contains(where: { draft.isBroken(["eras", .index($0), "name"]) })
        else { return nil }
        self.draft = draft
        old = input.old
        now = input.now
        let list = input.releases ?? draft.releases
        self.list = list
        let listFile = draft.releases.isEmpty && !input.isListMapped ? list.first?.position.file : nil
        listPath = listFile.flatMap { RelativePath.of($0, beside: draft.fileName) }
        rights = input.old.flatMap { old in
            draft.policy.map { RightsComparison(from: old, to: $0, existing: list.map(\.release), at: input.now) }
        }
        let timelines =
            draft.policy?.timelines
            ?? Timelines(eras: draft.eras, releases: draft.releases.map(\.release), buildNumbers: draft.buildNumbers)
        let known = Set(draft.eras.flatMap(\.begins.keys)).union(list.map(\.release.platform))
        platforms = Platform.allCases.filter(known.contains).compactMap { platform in
            timelines.possible(for: platform).first.map {
                LintPlatform(platform, timeline: $0, list: list, mayRestart: draft.buildNumbers == .restarted)
            }
        }
    }

    /// Every change from one era to the next, on each of `platforms` that has or inherits a beginning.
    var changes: [EraChange] {
        platforms.flatMap { platform in
            eras.indices.dropFirst().compactMap { EraChange(to: $0, on: platform, in: self) }
        }
    }

    /// The changes that the policy file has itself, without the changes that tvOS, watchOS and visionOS inherit from
    /// iOS.
    var writtenChanges: [EraChange] { changes.filter { eras[$0.index].begins[$0.platform.platform] != nil } }

    /// Returns the name of an era in backticks, for a message.
    func name(_ era: Int) -> String { eras.indices.contains(era) ? "`\(eras[era].name.shortened)`" : "no era" }

    /// Returns the names of the entitlements that still honor the era. An honor (an entry under `honors`) gives the
    /// customers of an era an entitlement, possibly until it ends.
    func entitlementsHonoring(era: Int) -> [String] {
        entitlements.filter { !lastingHonors(of: $0, in: era).isEmpty }.map(\.name)
    }

    /// All honors that haven't ended, each with its entitlement, the index of the honored era, and the honor's path in
    /// the file. Honors of unknown eras aren't included.
    var currentHonors: [(entitlement: Entitlement, honor: Honor, era: Int, path: [PolicyMistake.Step])] {
        entitlements.flatMap { entitlement in
            (entitlement.honors ?? []).enumerated().compactMap { number, honor in
                guard !hasEnded(honor), let era = eras.firstIndex(where: { $0.name == honor.era }) else { return nil }
                return (entitlement, honor, era, ["entitlements", .key(entitlement.name), "honors", .index(number)])
            }
        }
    }

    /// Returns the entitlement's honors of an era, without the honors that have ended on all platforms.
    func lastingHonors(of entitlement: Entitlement, in era: Int) -> [Honor] {
        guard eras.indices.contains(era) else { return [] }
        return (entitlement.honors ?? []).filter { $0.era == eras[era].name && !hasEnded($0) }
    }

    /// Whether the honor gives nothing to any customer anymore, on any platform.
    func hasEnded(_ honor: Honor) -> Bool {
        guard now != .distantFuture else { return false }
        if let until = honor.until, until <= now { return true }
        guard let length = honor.length, let era = eras.firstIndex(where: { $0.name == honor.era }) else {
            return false
        }
        // The length is counted from the end of the era, which may differ between platforms.
        let ends = platforms.filter { $0.timeline.firstEra <= era }.map { $0.timeline.end(of: era) }
        return !ends.isEmpty && ends.allSatisfy { $0.map { length.end(from: $0) <= now } ?? false }
    }

    /// Whether customers of `era` would keep everything that the entitlement gives them if they counted as customers of
    /// the era `other`.
    func keeps(_ entitlement: Entitlement, of era: Int, countedIn other: Int) -> Bool {
        // Compares the limits of honors without their eras.
        func limits(_ honors: [Honor]) -> Set<Honor> { Set(honors.map { $0.replacingEra(with: "") }) }
        let mine = limits(lastingHonors(of: entitlement, in: era))
        let others = limits(lastingHonors(of: entitlement, in: other))
        if mine.isEmpty || others.contains(where: \.isUnlimited) { return true }
        // A length is counted from the end of the era, so it differs between the eras.
        return mine.isSubset(of: others) && mine.allSatisfy { $0.length == nil }
    }

    /// Whether every customer of the app has the entitlement permanently.
    func isPermanentForAll(_ entitlement: Entitlement) -> Bool {
        let unlimited = Set((entitlement.honors ?? []).filter(\.isUnlimited).map(\.era))
        return eras.allSatisfy { unlimited.contains($0.name) }
    }

    /// Returns the path in the file of an era's beginning on a platform. If the platform inherits the beginning from
    /// iOS, returns the path of the beginning on iOS.
    func path(ofBeginning era: Int, on platform: LintPlatform) -> [PolicyMistake.Step] {
        let isInherited = eras[era].begins[platform.platform] == nil && platform.platform.inheritsFromIOS
        return ["eras", .index(era), "begins", .key((isInherited ? Platform.iOS : platform.platform).rawValue)]
    }

    /// The edit that makes the policy use the separate list, and the path that the edit writes. Nil if `listPath` is
    /// nil.
    var useOfList: (path: String, edit: PolicyEdit)? { listPath.map { ($0, .use(list, named: $0)) } }

    /// Returns when an era that hasn't begun yet first begins. Nil if it has begun on at least one platform, or if the
    /// date of a beginning isn't known.
    func plannedBeginning(of era: Int) -> Date? {
        guard era > 0, now != .distantFuture else { return nil }
        // `new` (the app came to the platform in this era) has no instant, so only the other platforms count.
        let beginnings = platforms.compactMap { $0.timeline.beginnings[era] }.filter { $0 != .new }
        let dates = beginnings.compactMap(\.date)
        guard dates.count == beginnings.count, let first = dates.min(), first > now else { return nil }
        return first
    }

    // MARK: Hypothetical customers

    /// Returns the names of the entitlements with this outcome for a customer who acquired the app with this version
    /// and date. Nil values mean that the version, platform or date isn't known. Returns nil if the file has mistakes.
    func entitlementNames(
        _ outcome: Decision.Outcome, _ version: AppVersion?, on platform: Platform?, bought date: Date?
    ) -> [String]? {
        guard let policy else { return nil }
        let proof = AppProof(
            kind: .appTransaction, signedDate: date, originalPlatform: platform,
            originalAppVersion: version?.description, originalPurchaseDate: date)
        let evidence = Evidence(environment: .production, app: [proof], purchasesAreComplete: true)
        // If the caller passed no time, decide at a time before any honor of limited length has ended.
        let decisionDate = now == .distantFuture ? Date.distantPast : now
        return decide(evidence, under: policy, at: decisionDate).filter { $0.outcome == outcome }.map(\.entitlement)
    }

    /// Returns the names of the entitlements that a customer gets because of the version, and wouldn't get because of
    /// the date alone.
    func extraEntitlements(_ version: AppVersion, on platform: Platform, bought date: Date) -> [String] {
        guard let byBoth = entitlementNames(.granted, version, on: platform, bought: date),
            let byDate = entitlementNames(.granted, nil, on: platform, bought: date).map({ Set($0) })
        else { return [] }
        return byBoth.filter { !byDate.contains($0) }
    }

    /// Returns the names of the entitlements that customers of a release get because of its version, and wouldn't get
    /// because of their date alone. Tries several dates of the release's sale, and returns the entitlements of the
    /// first date with any.
    func extraEntitlements(_ release: Release, on platform: LintPlatform) -> [String] {
        guard let number = release.originalAppVersion else { return [] }
        return platform.representativeDates(from: release.lateInstant, until: platform.sale(of: release).until).lazy
            .map { extraEntitlements(number, on: platform.platform, bought: $0) }
            .first { !$0.isEmpty } ?? []
    }
}
