import TenureCore
import TenurePolicyFile

/// Finds a boundary (the first build or version of an `Era`) that no release has, such as a build that was planned but
/// rejected in review. If numbers always increase, the boundary still separates the releases before and after it. But
/// if the policy has a release list, and the boundary no instant (`at`), nothing separates the two eras.
extension LintRule {
    static let boundaryOnNoRelease = LintRule(
        "boundary-on-no-release", .error, "a boundary with a build or version that no release has",
        rationale:
            "App Review may reject the build that was meant to be the first free build. The build that ships then has another number.",
        fix: "Write the number of the era's first release, or add that release to the release list.",
        needs: .releases
    ) { subject, report in
        // Skip platforms that inherit the boundary: the list of such a platform needn't have that release.
        for change in subject.writtenChanges {
            let releases = change.platform.listedReleases
            guard let version = change.version, !releases.isEmpty,
                !releases.contains(where: { $0.originalAppVersion == version }),
                // Skip boundaries that other rules report.
                !releases.contains(where: { $0.version == version || $0.build == version })
            else { continue }
            // Skip numbers that are never compared, because another rule reports these numbers.
            guard change.platform.decidesByList || change.platform.timeline.versionsRise else { continue }
            let numbers = releases.compactMap(\.originalAppVersion)
            let below = numbers.filter { $0 < version }.max().map { "\($0)" } ?? "none"
            let above = numbers.filter { $0 > version }.min().map { "\($0)" } ?? "none"
            // Suggest only releases with the price model of the new era: a free era can't begin with a release that was
            // sold.
            let begun = releases.filter { $0.model == nil || $0.model == change.after.model }
            let first = begun.compactMap(\.originalAppVersion).filter { $0 > version }.min().map { "\($0)" } ?? above
            let key = change.platform.key.rawValue
            let platform = change.platform.platform.rawValue
            let description =
                "`\(change.after.name.shortened)` begins on \(platform) with \(key) \(version), which isn't in the release list (below it \(below), above it \(above))"
            let lacksDate = change.platform.decidesByList && change.date == nil
            // The number may belong to a planned release, which isn't in a list of past releases.
            let isPlanned = above == "none" && change.date.map { $0 > subject.now } ?? false
            report.add(
                at: change.path + [.key(key)], severity: lacksDate ? .error : isPlanned ? .note : .warning,
                description
                    + (lacksDate
                        ? ": without an instant nothing separates this era from `\(change.before.name.shortened)`"
                        : above == "none"
                            ? ": if the era's first release has a lower \(key), anyone who installs that release counts as `\(change.before.name.shortened)`\(change.lostEntitlements.isEmpty ? "" : " and gets \(inWords(change.lostEntitlements)) for nothing")"
                            : ""),
                fixes: above == "none"
                    ? nil
                    : .suggestion(
                        "write `\(key): \"\(first)\"`, or add the missing release to the release list",
                        .write(.text(first), at: change.path + [.key(key)])),
                "add the release to the release list, with its real \(key)")
        }
    }
}
