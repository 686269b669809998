import TenureCore
import TenurePolicyFile

/// Finds an era (a period in which the app was paid, or free) that has begun, but has no release in the policy's
/// release list, for example because new releases weren't added to the list.
extension LintRule {
    static let eraWithoutRelease = LintRule(
        "era-without-release", .warning, "an era that has begun, but has no release in the policy's release list",
        rationale:
            "A build that isn't in the list doesn't show in which era the customer got the app. If the list ends before the new era begins, Tenure can judge every later customer only by date.",
        fix: "Append every release to the policy's release list, before it ships.",
        needs: .releases
    ) { subject, report in
        for change in subject.changes where change.platform.decidesByList && change.matters {
            let platform = change.platform
            let releaseEras = platform.releases.map { platform.era(of: $0.release) }
            // Report nothing if a release's era isn't certain. An undated last release may belong to the new era.
            guard !releaseEras.isEmpty, !releaseEras.contains(where: { $0 == nil }),
                platform.listedReleases.last?.releasedAt != .undated,
                !releaseEras.contains(where: { ($0 ?? 0) >= change.index }),
                change.date.map({ $0 <= subject.now }) ?? true
            else { continue }
            let last = platform.releases.last?.release
            report.add(
                at: change.path,
                "the release list's last release on \(platform.platform.rawValue) is \(last.map { "\(platform.key.rawValue) \($0.numberInWords) (\($0.releasedAt.text))" } ?? "none"), before `\(change.after.name.shortened)` begins: the \(platform.key.rawValue) of every later customer isn't in the list and proves nothing",
                fixes: "append the releases of `\(change.after.name.shortened)` to the release list")
        }
    }
}
