import TenureCore
import TenurePolicyFile

/// Finds a release that the policy's own release list lacks. Then its build or version doesn't prove in which era a
/// customer got the app, even if the release was sold for years (rule A5 of Docs/decision-rules.md). An era is a period
/// in which the app was paid, or free. Only a separate list, passed with `--releases`, reveals that a release is
/// missing.
extension LintRule {
    static let buildNotListed = LintRule(
        "build-not-listed", .error, "a release of an honored era that the policy's own release list lacks",
        rationale:
            "A build that the list lacks doesn't show in which era its owners got the app, so they depend on their purchase date. Owners without a known purchase date are undetermined.",
        fix: "Add the release to the policy's release list.",
        needs: .releasesOption
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
                let builds = "\(platform.key.rawValue)\(isOne ? "" : "s") \(inWords(group.numbers.sorted()))"
                let platformName = platform.platform.rawValue
                report.add(
                    at: ["releases"], as: [platformName, builds], severity: group.datesHelp ? .warning : .error,
                    "the policy's release list lacks \(builds) on \(platformName), so \(isOne ? "it proves" : "they prove") nothing: customers who got \(isOne ? "it" : "them") lose \(inWords(group.lost))\(group.datesHelp ? " wherever the purchase date isn't known" : "")",
                    fixes: "add \(isOne ? "this release" : "these releases") to the policy's `releases`")
            }
        }
    }
}

extension LintSubject {
    /// Returns what customers of a release lose because the policy's release list lacks it, and whether customers with a known
    /// purchase date keep everything; nil if no customer loses anything.
    fileprivate func loss(
        without release: Release, _ number: AppVersion, on platform: LintPlatform
    ) -> (lost: [String], datesHelp: Bool)? {
        let lastPaid = release.model == .paid ? eras.lastIndex { $0.model == .paid } : nil
        // Other rules report a release with another price model than its era.
        guard let era = platform.era(of: release) ?? lastPaid,
            release.model.map({ $0 == eras[era].model }) ?? true,
            let byBuild = grantedEntitlements(number, on: platform.platform, bought: nil),
            let byDate = grantedEntitlements(number, on: platform.platform, bought: release.lateInstant)
        else { return nil }
        let (namesByBuild, namesByDate) = (Set(byBuild), Set(byDate))
        let lost = entitlements.filter { entitlement in
            let honors = lastingHonors(of: entitlement, in: era)
            // A limited honor may give these customers nothing anyway.
            return honors.contains(where: \.isUnlimited) || !honors.isEmpty && namesByDate.contains(entitlement.name)
        }.map(\.name).filter { !namesByBuild.contains($0) }
        return lost.isEmpty ? nil : (lost, lost.allSatisfy(namesByDate.contains))
    }
}
