import TenureCore
import TenurePolicyFile

/// The rules for mistakes, with which a file can't be used as a policy. The reader of the policy file finds most of
/// them, so their rules have no check. `Linter` finds acknowledgments without a finding.
extension LintRule {
    static let mistake = LintRule(
        "mistake", .error, "a mistake that makes the policy file invalid",
        rationale:
            "Tenure refuses a file that it can't read completely. If it guessed what a part means, a wrong guess would change what customers may use.",
        fix: "Do what the message says; Docs/policy-file.md has every key.")

    /// Finds an acknowledgment (an entry under `acknowledge`, which accepts one finding) of a finding that doesn't
    /// exist. It would hide a later finding at the same place.
    static let acknowledgmentWithoutFinding = LintRule(
        "acknowledgment-without-finding", .error, "an acknowledgment of a finding that doesn't exist",
        rationale: "A list of exceptions that is never cleaned up grows until it hides the finding that matters.",
        fix:
            "Remove the acknowledgment, or correct its `at` to the place that the check prints below the finding. A finding without a place is a mistake in the file, and can't be acknowledged."
    )

    /// Finds a version that isn't made of numbers. Versions are compared as numbers. A well-known tutorial compared
    /// `"2"` with `"13"` as strings, and locked out early buyers.
    static let malformedVersion = LintRule(
        "malformed-version", .error, "a build or version that isn't numbers separated by periods, such as `2.0b`",
        rationale:
            "Compared as strings, version 13 comes before version 2. One app compared its versions as strings, and locked its owners out on the day of the change.",
        fix: "Write numbers separated by periods, as the App Store reports them.")

    /// Finds eras in the wrong order. The reader of the file reports eras that aren't listed oldest first. This check
    /// finds an entry of `begins` for an era that was over before the platform's App Store opened (rule A8 of
    /// Docs/decision-rules.md). Such a policy is valid, but the entry has no effect.
    static let erasBackwards = LintRule(
        "eras-backwards", .error, "an era that begins before the era listed above it, or a beginning without effect",
        rationale:
            "An app that was free, then sold, then free again has three eras. If the order is wrong, customers of one era are treated as customers of another era.",
        fix:
            "List the eras oldest first. In `begins`, each `at` and each build or version must be later than in the era above. Remove a beginning without effect."
    ) { subject, report in
        for platform in subject.platforms {
            let first = platform.timeline.firstEra
            guard subject.eras[first].begins[platform.platform] == nil, platform.timeline.beginnings[first] == .new,
                subject.eras[first].begins[.iOS] != .new
            else { continue }
            for (index, era) in subject.eras[..<first].enumerated() where era.begins[platform.platform] != nil {
                let path: [PolicyMistake.Step] = ["eras", .index(index), "begins", .key(platform.name)]
                let missing = "add `\(platform.name)` under `begins` of \(subject.name(first))"
                report.add(
                    at: path,
                    "this entry has no effect: \(subject.name(first)) began on iOS before \(platform.name)'s App Store opened, so no customer on \(platform.name) counts as \(subject.name(index))",
                    fixes: .suggestion("remove the entry, or \(missing)", .remove(path)),
                    .init(stringLiteral: missing))
            }
        }
    }

    /// Finds a missing `buildNumbers`. iOS reports only the build, and some tools restart builds with each version. So
    /// Tenure can't guess whether builds can be compared.
    static let buildNumbersUnsaid = LintRule(
        "build-numbers-unsaid", .error, "a platform other than macOS without a release list and without `buildNumbers`",
        rationale:
            "In some apps, build numbers restart with each version. There, a boundary by build treats new customers as owners, or owners as new customers.",
        fix: "Write `buildNumbers: increasing` or `restarted`, or add a release list.")
}
