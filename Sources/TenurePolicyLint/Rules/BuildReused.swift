import TenureCore
import TenurePolicyFile

/// Finds a build or version that belongs to releases of two eras (periods in which the app was paid, or free). In some
/// apps, all releases are build 1, and in other apps, builds restart with each version.
extension LintRule {
    static let buildReused = LintRule(
        "build-reused", .error, "one build, or one version on macOS, in two eras",
        rationale:
            "One app gave each release the build 1. A customer who first got build 1 may be from before or after the change, so the build proves neither era.",
        fix:
            "Let the date decide: write `at` in the era's beginning and add a release list, or set `buildNumbers: restarted` and remove each `build` under `begins`.",
        needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            var first: [AppVersion: (release: Release, era: Int)] = [:]
            var reported: Set<AppVersion> = []
            for listed in platform.releases {
                guard let number = listed.release.originalAppVersion, let era = platform.era(of: listed.release)
                else { continue }
                guard let earlier = first[number] else {
                    first[number] = (listed.release, era)
                    continue
                }
                guard earlier.era != era, reported.insert(number).inserted else { continue }
                let build = platform.name(of: listed.release)
                let unpaidEntitlements = subject.extraEntitlements(listed.release, on: platform)
                let eras =
                    "\(build) on \(platform.platform.rawValue) was released in \(subject.name(earlier.era)) (\(earlier.release.releasedAt.text)) and again in \(subject.name(era)) (\(listed.release.releasedAt.text))"
                if unpaidEntitlements.isEmpty {
                    let isDated = platform.timeline.beginnings.dropFirst(min(earlier.era, era) + 1)
                        .prefix(abs(era - earlier.era)).contains { $0?.date != nil }
                    report.add(
                        at: listed, severity: .warning, on: platform,
                        "\(eras): \(build) proves neither era, \(isDated ? "so the purchase date alone decides" : "and no instant separates them")\(subject.outcomeWithoutDate(of: listed.release, number, on: platform))",
                        fixes:
                            "give each release its own \(platform.key.rawValue) from now on\(platform.decidesByList ? "; keep both rows in the policy's release list" : "")"
                    )
                } else {
                    report.add(
                        at: listed, on: platform,
                        "\(eras), and the policy treats the second release as the first: anyone who first got the app with that release in \(subject.name(era)) gets \(inWords(unpaidEntitlements)) for nothing",
                        fixes: platform.key == .bundleVersion
                            ? "let the date decide: add the release list to the policy (key `releases`), or set `buildNumbers: restarted` and remove each `build` under `begins`"
                            : "add the release list to the policy (key `releases`), so that the date decides")
                }
            }
        }
    }
}

extension LintSubject {
    /// Describes what customers of a release without a known purchase date get, for the end of a message. Empty if they
    /// get the same as customers who came while the release was on sale, and nothing is undetermined.
    fileprivate func outcomeWithoutDate(
        of release: Release, _ number: AppVersion, on platform: LintPlatform
    ) -> String {
        let undetermined = undeterminedEntitlements(number, on: platform.platform, bought: nil) ?? []
        let undeterminedByDate = Set(
            undeterminedEntitlements(number, on: platform.platform, bought: release.lateInstant) ?? [])
        let resolvedByDate = undetermined.filter { !undeterminedByDate.contains($0) }
        if !resolvedByDate.isEmpty {
            return "; a customer without a known purchase date is undetermined for \(inWords(resolvedByDate))"
        }
        if !undetermined.isEmpty {
            return "; customers of \(platform.name(of: release)) are undetermined for \(inWords(undetermined))"
        }
        let byDate = Set(
            grantedEntitlements(number, on: platform.platform, bought: release.lateInstant) ?? [])
        let undated = grantedEntitlements(number, on: platform.platform, bought: nil) ?? []
        let isInDoubt = undated.contains { !byDate.contains($0) }
        return isInDoubt ? "; for a customer without a known purchase date, `inDoubt` decides" : ""
    }
}
