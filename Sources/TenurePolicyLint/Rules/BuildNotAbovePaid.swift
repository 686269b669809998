import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds a release of a later era (a period in which the app was paid, or free) with a lower number than a release of
/// an earlier era. Unless the policy itself has a release list, everyone who first installs this release permanently
/// counts as a customer of the earlier era, because the original build never changes. The rule `build-reused` finds
/// equal numbers.
extension LintRule {
    static let buildNotAbovePaid = LintRule(
        "build-not-above-paid", .error,
        "a release of a later era with a lower build or version than a release of an earlier era",
        rationale:
            "If a free build is below a paid build, everyone who installs the free build gets the app for nothing. Their original build never changes.",
        fix:
            "Ship no such build. If such a build was shipped, add the release list to the policy (key `releases`), or set `buildNumbers: restarted` and remove each `build` under `begins`.",
        needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            // The release with the highest number in each era.
            var highest: [Int: Release] = [:]
            for listed in platform.releases {
                guard let number = listed.release.originalAppVersion, let era = platform.era(of: listed.release)
                else { continue }
                let above = highest.filter { $0.key < era }.compactMap { era, last in
                    last.originalAppVersion.map { (era: era, number: $0, release: last) }
                }
                if let last = above.max(by: { $0.number < $1.number }), number < last.number {
                    addFinding(listed, era, after: last.release, of: last.era)
                }
                if highest[era]?.originalAppVersion.map({ $0 < number }) ?? true { highest[era] = listed.release }
            }

            // Reports a release of an era if its number is below the number of a release in an earlier era.
            func addFinding(_ listed: ListedRelease, _ era: Int, after last: Release, of lastEra: Int) {
                let build = platform.name(of: listed.release)
                let sale = platform.sale(of: listed.release)
                let unpaidEntitlements = subject.extraEntitlements(listed.release, on: platform)
                let description =
                    "\(build) of \(subject.name(era)) on \(platform.platform.rawValue) (\(listed.release.releasedAt.text)) is below \(platform.name(of: last)) of \(subject.name(lastEra)) (\(last.releasedAt.text))"
                guard !unpaidEntitlements.isEmpty else {
                    report.add(
                        at: listed, severity: .note, on: platform,
                        "\(description): only its row in the release list, or the purchase date, shows its era",
                        fixes:
                            "keep every release in the policy's release list, and give each new release a higher \(platform.key.rawValue)"
                    )
                    return
                }
                let when =
                    sale.from > subject.now
                    ? "installs \(build) from \(sale.from.rfc3339) on gets"
                    : sale.until == .distantFuture || sale.until > subject.now
                        ? "installs \(build) today gets" : "installed \(build) until \(sale.until.rfc3339) gets"
                report.add(
                    at: listed, on: platform,
                    "anyone who \(when) \(inWords(unpaidEntitlements)) for nothing: \(description)",
                    fixes:
                        "ship a \(platform.key.rawValue) above \(last.numberInWords)\(platform.decidesByList ? "" : ", and add the release list to the policy (key `releases`), so that the release date of \(build) is used")"
                )
            }
        }
    }
}
