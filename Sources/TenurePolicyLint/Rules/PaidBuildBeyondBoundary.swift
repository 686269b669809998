import TenureCore
import TenurePolicyFile

/// Finds a release of an earlier era at or above the boundary (the first build or version) of the next era. For
/// example, the boundary is the build with which development of the free version began, and a paid update with a higher
/// build came out later.
extension LintRule {
    static let paidBuildBeyondBoundary = LintRule(
        "paid-build-beyond-boundary", .warning, "a release of an earlier era at or above the boundary of the next era",
        rationale:
            "In one app, the boundary was set below the last paid update. Customers who first got the app with that update were locked out on the day of the change.",
        fix: "Begin the era with its own first release.",
        needs: .releases
    ) { subject, report in
        for change in subject.changes {
            guard let boundary = change.version, change.matters else { continue }
            let platform = change.platform
            for listed in platform.releases {
                guard let number = listed.release.originalAppVersion, let era = platform.era(of: listed.release),
                    era < change.index, number >= boundary,
                    // Other rules report releases with a model in the list: `paid-build-unhonored` if it is paid,
                    // `model-contradicted` if it is free.
                    listed.release.model != .paid,
                    listed.release.model != .free || subject.eras[era].model == .free,
                    platform.timeline.changeover(at: listed.release.releasedAt.sortingDate).isEmpty,
                    let byVersion = subject.grantedEntitlements(number, on: platform.platform, bought: nil).map({
                        Set($0)
                    })
                else { continue }
                let lost = subject.entitlementsHonoring(era: era).filter { !byVersion.contains($0) }
                guard !lost.isEmpty else { continue }
                let isInherited =
                    platform.platform.inheritsFromIOS && subject.eras[change.index].begins[platform.platform] == nil
                report.add(
                    at: listed, on: platform,
                    "\(platform.name(of: listed.release)) on \(platform.platform.rawValue) came out in \(subject.name(era)) (\(listed.release.releasedAt.text)), and \(subject.name(change.index)) begins with \(boundary): customers who bought it lose \(inWords(lost)) wherever the purchase date isn't known",
                    fixes:
                        "\(isInherited ? "add `\(platform.platform.rawValue)` under `begins` of \(subject.name(change.index))" : "begin \(subject.name(change.index)) above \(number)"), with its own first release; if \(number) belongs to \(subject.name(change.index)), correct `at` or the release's date"
                )
            }
        }
    }
}
