import TenureCore
import TenurePolicyFile

/// Every build was 1: nothing lies below such a boundary, and no owner on the right side of it.
extension LintRule {
    static let boundaryAtFirstBuild = LintRule(
        "boundary-at-first-build", .error, "a boundary at or below 1, where nothing can lie below it",
        story:
            "Apps that leave the build at 1 in every release, and what test environments invent (1 and 1.0), have nothing below it.",
        fix:
            "Write the number of the era's first release; where every release had the same, leave it out and write `at`."
    ) { subject, report in
        guard let one = AppVersion("1") else { return }
        for change in subject.writtenChanges {
            guard let version = change.version, version <= one, change.matters else { continue }
            let key = change.platform.key.rawValue
            report.add(
                at: change.path + [.key(key)],
                "no \(key) is below \(version): every customer's counts as `\(change.after.name.shortened)`\(change.lost.isEmpty ? "" : ", and whoever paid loses \(inWords(change.lost)) wherever the purchase date is not known")",
                fix:
                    "write the \(key) of the first release of `\(change.after.name.shortened)`, or only `at` and `buildNumbers: restarted`"
            )
        }
    }
}
