import TenureCore
import TenurePolicyFile

/// Build numbers that begin again per version are usual on iOS, and nobody remembers five years later whether they did.
extension LintRule {
    static let increasingContradicted = LintRule(
        "increasing-contradicted", .error,
        "`buildNumbers: increasing`, or a macOS app, where the list has a number that fell",
        story: "Nobody remembers after five years whether build numbers once began again. The list does.",
        fix: "Write `buildNumbers: restarted`, and keep the release list in the policy."
    ) { subject, report in
        for platform in subject.platforms {
            guard platform.key == .shortVersionString || subject.draft.buildNumbers == .increasing else { continue }
            var highest: Release?
            for listed in platform.releases {
                guard let number = listed.release.originalAppVersion else { continue }
                if let last = highest, let before = last.originalAppVersion,
                    number < before || number == before && platform.key == .bundleVersion,
                    last.releasedAt.sortingDay < listed.release.releasedAt.sortingDay
                {
                    let key = platform.key.rawValue
                    let claim =
                        platform.key == .bundleVersion
                        ? "`buildNumbers: increasing` is not so" : "versions did not always rise"
                    report.add(
                        at: listed.position, platform.decidesByList ? .warning : .error,
                        "\(claim): on \(platform.platform.rawValue) \(key) \(number) (\(listed.release.releasedAt.text)) came after \(key) \(before) (\(last.releasedAt.text))"
                            + (platform.decidesByList
                                ? "; the policy's list tells them apart, but where a date contradicts, the \(key) is believed"
                                : "; \(key)s between them tell the wrong era"),
                        fix: platform.key == .bundleVersion
                            ? "write `buildNumbers: restarted`\(platform.decidesByList ? "" : ", and make this list the policy's `releases`")"
                            : "make this list the policy's `releases`")
                    break
                }
                if highest?.originalAppVersion.map({ $0 <= number }) ?? true { highest = listed.release }
            }
        }
    }
}
