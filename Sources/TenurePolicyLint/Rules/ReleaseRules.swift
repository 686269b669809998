import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// The rules about single releases in the release list: the era to which the policy assigns them, and their sale.
extension LintRule {
    /// Finds releases that were sold, but count as releases of another `Era`, so that their buyers lose at least one
    /// entitlement.
    ///
    /// The release list says which releases were sold. The rule checks in which era a buyer without a known purchase
    /// date is: the version decides. The date of the release decides only if the version proves nothing, or if the
    /// release came out in no paid era. For example, a date before the first paid era takes precedence (rule C1 of
    /// Docs/decision-rules.md).
    static let paidBuildUnhonored = LintRule(
        "paid-build-unhonored", .error,
        "paid releases with buyers who count as customers of another era, and lose an entitlement",
        rationale:
            "One developer set a boundary below the last paid builds. Everyone who had bought these builds was locked out on the day of the change.",
        fix: "Begin the next era with its own first release, or honor the era in which the paid releases were sold.",
        needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            for group in subject.contradictions(on: platform) where !group.lostEntitlements.isEmpty {
                let builds = platform.name(of: group.numbers)
                // A platform that inherits iOS's boundary has no position in the file.
                let isInherited = subject.eras[subject.misplacedEra(group)].begins[platform.platform] == nil
                let details = isInherited && platform.platform.inheritsFromIOS ? [platform.name, builds] : [builds]
                let lost = inWords(group.lostEntitlements.sorted())
                let condition = group.datesHelp ? " wherever the purchase date isn't known" : ""
                let basis = group.isByDate ? "date" : platform.noun
                let theyCount = group.numbers.count == 1 ? "it counts" : "they count"
                let doNotHonor = group.lostEntitlements.count == 1 ? "doesn't honor" : "don't honor"
                report.add(
                    at: subject.path(ofBeginning: subject.misplacedEra(group), on: platform), as: details,
                    "customers who bought \(builds) on \(platform.name) lose \(lost)\(condition): the release list says that the app was sold then, but by \(basis) \(theyCount) as \(subject.name(group.era)), which \(lost) \(doNotHonor)",
                    fixes: subject.fixMovingBoundary(of: group, on: platform), subject.advice(on: group, on: platform))
            }
        }
    }

    /// Finds a release of an earlier era at or above the boundary (the first build or version) of the next era. For
    /// example, the boundary is the build with which development of the free version began, and a paid update with a
    /// higher build came out later.
    static let paidBuildBeyondBoundary = LintRule(
        "paid-build-beyond-boundary", .warning, "a release of an earlier era at or above the boundary of the next era",
        rationale:
            "In one app, the boundary was set below the last paid update. Customers who first got the app with that update were locked out on the day of the change.",
        fix: "Begin the era with its own first release.", needs: .releases
    ) { subject, report in
        for change in subject.changes {
            guard let boundary = change.version, change.matters else { continue }
            let platform = change.platform
            for listed in platform.releases {
                guard let number = listed.release.originalAppVersion, let era = platform.era(of: listed.release),
                    era < change.index, number >= boundary,
                    // Other rules report releases with a model in the list: `paid-build-unhonored` if it is paid,
                    // `model-contradicted` if it is free and the era is paid.
                    listed.release.model != .paid, listed.release.model != .free || subject.eras[era].model == .free,
                    platform.timeline.changeover(at: listed.release.releasedAt.sortingDate).isEmpty,
                    let names = subject.entitlementNames(.granted, number, on: platform.platform, bought: nil)
                else { continue }
                let byVersion = Set(names)
                let lost = subject.entitlementsHonoring(era: era).filter { !byVersion.contains($0) }
                guard !lost.isEmpty else { continue }
                // Without an instant between the two eras, no date separates them.
                let isDated = platform.timeline.beginnings.dropFirst(era + 1).prefix(change.index - era)
                    .contains { $0?.date != nil }
                let condition = isDated ? " wherever the purchase date isn't known" : ""
                let isInherited =
                    platform.platform.inheritsFromIOS && subject.eras[change.index].begins[platform.platform] == nil
                report.add(
                    at: listed, on: platform,
                    "\(platform.name(of: listed.release)) on \(platform.name) came out in \(subject.name(era)) (\(listed.release.releasedAt.text)), and \(subject.name(change.index)) begins with \(boundary): customers who bought it lose \(inWords(lost))\(condition)",
                    fixes:
                        "\(isInherited ? "add `\(platform.name)` under `begins` of \(subject.name(change.index))" : "begin \(subject.name(change.index)) above \(number)"), with its own first release; if \(number) belongs to \(subject.name(change.index)), correct `at` or the release's date"
                )
            }
        }
    }

    /// Finds releases with another price model (`paid` or `free`) than the `Era` to which the policy assigns them.
    /// Either the release list or the policy is wrong. If buyers lose something, the rule `paid-build-unhonored`
    /// reports the releases instead.
    static let modelContradicted = LintRule(
        "model-contradicted", .error, "a release with another price model than its era",
        rationale:
            "One app was free, then paid, then free again. A policy with one boundary leaves out the paid era in the middle.",
        fix: "Correct the era's beginning or model, or the release's model in the release list.", needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            for group in subject.contradictions(on: platform) where group.lostEntitlements.isEmpty {
                guard let first = group.releases.first else { continue }
                let numbers = group.numbers
                // A free release in a paid era may mean that the next free era begins too late.
                let moved = group.model == .free ? subject.misplacedEra(group) : group.era
                let consequence =
                    group.unpaidEntitlements.isEmpty
                    ? (group.model == .paid && subject.entitlementsHonoring(era: group.era).isEmpty
                        ? ": customers who paid then keep nothing" : "")
                    : ": customers who got the app then get \(inWords(group.unpaidEntitlements.sorted())) for nothing"
                report.add(
                    at: first, on: platform,
                    "the release list says that \(platform.name(of: numbers)) on \(platform.name) (\(first.release.releasedAt.text)) \(numbers.count == 1 ? "was" : "were") \(group.model.rawValue), but by \(group.isByDate ? "date" : platform.noun) \(numbers.count == 1 ? "it counts" : "they count") as \(subject.name(group.era)), which has `model: \(subject.eras[group.era].model.rawValue)`\(consequence)",
                    fixes:
                        "add an era that begins with this release, correct where \(subject.name(moved)) begins, or correct the release's row in the release list"
                )
            }
        }
    }

    /// Finds a release that the policy's own release list lacks. Then its build or version doesn't prove in which era a
    /// customer got the app, even if the release was sold for years (rule A5 of Docs/decision-rules.md). An era is a
    /// period in which the app was paid, or free. Only a separate list, passed with `--releases`, reveals that a
    /// release is missing.
    static let buildNotListed = LintRule(
        "build-not-listed", .error, "a release of an honored era that the policy's own release list lacks",
        rationale:
            "A build that the list lacks doesn't show in which era its owners got the app, so they depend on their purchase date. Owners without a known purchase date are undetermined.",
        fix: "Add the release to the policy's release list.", needs: .releasesOption
    ) { subject, report in
        for platform in subject.platforms where platform.decidesByList {
            var groups: [(lost: [String], datesHelp: Bool, numbers: Set<AppVersion>)] = []
            for listed in platform.releases {
                guard let number = listed.release.originalAppVersion,
                    platform.timeline.erasOfRelease?[number] == nil,
                    let (lost, datesHelp) = subject.loss(without: listed.release, number, on: platform)
                else { continue }
                if let index = groups.firstIndex(where: { $0.lost == lost && $0.datesHelp == datesHelp }) {
                    groups[index].numbers.insert(number)
                } else {
                    groups.append((lost, datesHelp, [number]))
                }
            }
            for group in groups {
                let isOne = group.numbers.count == 1
                let builds = platform.name(of: group.numbers.sorted())
                let condition = group.datesHelp ? " wherever the purchase date isn't known" : ""
                report.add(
                    at: ["releases"], as: [platform.name, builds], severity: group.datesHelp ? .warning : .error,
                    "the policy's release list lacks \(builds) on \(platform.name), so \(isOne ? "it proves" : "they prove") nothing: customers who got \(isOne ? "it" : "them") lose \(inWords(group.lost))\(condition)",
                    fixes: "add \(isOne ? "this release" : "these releases") to the policy's `releases`")
            }
        }
    }

    /// Finds a release that was still on sale after the next `Era` had begun. Reports it if its version gives customers
    /// entitlements that their purchase date wouldn't.
    ///
    /// The end of the sale of a release without a date is known only if the next release in the list has a date.
    static let soldAcrossChange = LintRule(
        "sold-across-change", .error, "a release that stayed on sale beyond the beginning of the next era",
        rationale:
            "The price and the app's version rarely change together: someone who downloads yesterday's paid build for free looks like an owner.",
        fix:
            "Add the release list to the policy (key `releases`), or let the changeover window reach to the next release.",
        needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            for (index, listed) in platform.orderedReleases.enumerated() {
                guard let number = listed.release.originalAppVersion, let sale = platform.eraAndSale(at: index)
                else { continue }
                // If the change is in the future, a newer release may come out before it.
                for moment in platform.representativeDates(from: sale.from, until: sale.until)
                where moment <= subject.now {
                    let eras = platform.timeline.eras(at: moment)
                    guard let laterEra = eras.first, eras.count == 1, laterEra > sale.era else { continue }
                    let unpaidEntitlements = subject.extraEntitlements(number, on: platform.platform, bought: moment)
                    guard !unpaidEntitlements.isEmpty else { continue }
                    let until =
                        sale.until == .distantFuture
                        ? "is still the newest in the release list" : "was on sale until \(sale.until.rfc3339)"
                    let isDated = listed.release.releasedAt != .undated
                    // The message has no seconds.
                    let start = platform.beginning(of: moment, since: sale.from).timeIntervalSince1970
                    let startInWords = Date(timeIntervalSince1970: (start / 60).rounded(.down) * 60).rfc3339
                    let change = EraChange(to: laterEra, on: platform, in: subject)
                    let isDateWrong = change.map { subject.contradictedDate(of: $0) != nil } ?? false
                    report.add(
                        // If this is the last release in the list, the list may be incomplete.
                        at: listed, severity: sale.until == .distantFuture ? .warning : .error, on: platform,
                        "\(platform.name(of: listed.release)) on \(platform.name) \(isDated ? "came out in" : "counts as") \(subject.name(sale.era)) and \(until), in \(subject.name(laterEra)): anyone who installed it after \(startInWords) gets \(inWords(unpaidEntitlements)) for nothing",
                        fixes: isDateWrong
                            ? nil
                            : subject.useOfList.map {
                                .suggestion("write `releases: \($0.path)`, so that the date decides", $0.edit)
                            },
                        isDateWrong
                            ? "correct `at` of \(subject.name(laterEra))"
                            : platform.decidesByList
                                ? "check the release's date"
                                : "add a complete release list to the policy (key `releases`), so that the date decides"
                    )
                    break
                }
            }
        }
    }
}

extension LintSubject {
    /// Returns what customers of a release lose because the policy's release list lacks it, and whether customers with
    /// a known purchase date keep everything. Nil if no customer loses anything.
    fileprivate func loss(
        without release: Release, _ number: AppVersion, on platform: LintPlatform
    ) -> (lost: [String], datesHelp: Bool)? {
        let lastPaid = release.model == .paid ? eras.lastIndex { $0.model == .paid } : nil
        // Other rules report a release with another price model than its era.
        guard let era = platform.era(of: release) ?? lastPaid,
            release.model.map({ $0 == eras[era].model }) ?? true,
            let byBuild = entitlementNames(.granted, number, on: platform.platform, bought: nil),
            let byDate = entitlementNames(.granted, number, on: platform.platform, bought: release.lateInstant)
        else { return nil }
        let (namesByBuild, namesByDate) = (Set(byBuild), Set(byDate))
        let lost = entitlements.filter { entitlement in
            let honors = lastingHonors(of: entitlement, in: era)
            // A limited honor may give these customers nothing anyway.
            return honors.contains(where: \.isUnlimited) || (!honors.isEmpty && namesByDate.contains(entitlement.name))
        }.map(\.name).filter { !namesByBuild.contains($0) }
        return lost.isEmpty ? nil : (lost, lost.allSatisfy(namesByDate.contains))
    }
}
