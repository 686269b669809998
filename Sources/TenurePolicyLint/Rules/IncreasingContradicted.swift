import TenureCore
import TenurePolicyFile

/// Finds `buildNumbers: increasing` if the release list has a number that is lower than an earlier number. On iOS,
/// builds often restart with each version.
extension LintRule {
    static let increasingContradicted = LintRule(
        "increasing-contradicted", .error,
        "`buildNumbers: increasing`, or a macOS app, where the release list has a build or version that fell or was used twice",
        rationale:
            "After five years, a developer may not remember whether build numbers restarted. The release list shows whether they did.",
        fix: "Write `buildNumbers: restarted`, and keep the release list in the policy.",
        needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            guard platform.key == .shortVersionString || subject.draft.buildNumbers == .increasing else { continue }
            var highest: Release?
            for listed in platform.releases {
                guard let number = listed.release.originalAppVersion else { continue }
                if let last = highest, let before = last.originalAppVersion,
                    number < before || last.isOtherRelease(than: listed.release),
                    last.releasedAt.sortingDay < listed.release.releasedAt.sortingDay
                {
                    let key = platform.key.rawValue
                    let claim =
                        platform.key == .bundleVersion
                        ? "`buildNumbers: increasing` is wrong" : "versions didn't always rise"
                    let (dates, isSame) = ((last.releasedAt.text, listed.release.releasedAt.text), number == before)
                    report.add(
                        at: listed, severity: platform.decidesByList ? .warning : .error, on: platform,
                        "\(claim): on \(platform.platform.rawValue) "
                            + (isSame
                                ? "two releases have \(key) \(number) (\(dates.0) and \(dates.1))"
                                : "\(key) \(number) (\(dates.1)) came after \(key) \(before) (\(dates.0))")
                            + (platform.decidesByList
                                ? "; the policy's release list tells the releases apart, but if a date contradicts the \(key), the \(key) is used"
                                : isSame
                                    ? "; the \(key) doesn't tell them apart"
                                    : "; \(key)s between them prove the wrong era"),
                        fixes: platform.key == .bundleVersion
                            ? .suggestion(
                                "write `buildNumbers: restarted`",
                                .write(.plain("restarted"), at: ["buildNumbers"])) : nil,
                        subject.useOfList.map { use in
                            let releases = "`releases: \(use.path)`"
                            return platform.key == .shortVersionString
                                ? .suggestion("write \(releases)", use.edit)
                                : .suggestion(
                                    "write `buildNumbers: restarted` and \(releases)",
                                    .write(.plain("restarted"), at: ["buildNumbers"]), use.edit)
                        },
                        platform.key == .bundleVersion
                            ? "let the date decide, by `buildNumbers: restarted` and a release list in the policy for each platform that has a boundary by build"
                            : "let the dates decide, by a complete release list in the policy")
                    break
                }
                if highest?.originalAppVersion.map({ $0 <= number }) ?? true { highest = listed.release }
            }
        }
    }
}

extension Release {
    /// Whether the two are different releases with the same build. If a release is listed twice, such as for a new
    /// price or storefront, both rows also have the same marketing version.
    fileprivate func isOtherRelease(than other: Release) -> Bool {
        guard platform.versionKey == .bundleVersion, build == other.build, let version, let otherVersion = other.version
        else {
            return false
        }
        return version != otherVersion
    }
}
