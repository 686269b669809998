import TenureCore
import TenurePolicyFile

/// Finds releases that were sold, but count as releases of another era (period in which the app was paid, or free), so
/// that their buyers lose at least one entitlement.
///
/// The release list says which releases were sold. The rule checks in which era a buyer without a known purchase date
/// is: the version decides. The date of the release decides only if the version proves nothing, or if the release came
/// out before any paid era began, because an early date takes precedence (rule C1 of Docs/decision-rules.md).
extension LintRule {
    static let paidBuildUnhonored = LintRule(
        "paid-build-unhonored", .error,
        "paid releases with buyers who count as customers of another era, and lose an entitlement",
        rationale:
            "One developer set a boundary below the last paid builds. Everyone who had bought these builds was locked out on the day of the change.",
        fix: "Begin the next era with its own first release, or honor the era in which the paid releases were sold.",
        needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            for group in subject.contradictions(on: platform) where !group.lostEntitlements.isEmpty {
                let key = platform.key.rawValue
                let numbers = group.numbers
                let builds = "\(key)\(numbers.count == 1 ? "" : "s") \(inWords(numbers))"
                let era = subject.name(group.era)
                let platformName = platform.platform.rawValue
                // A platform that inherits iOS's boundary has no position in the file.
                let isInherited = subject.eras[subject.misplacedEra(group)].begins[platform.platform] == nil
                let details = isInherited && platform.platform.inheritsFromIOS ? [platformName, builds] : [builds]
                let lost = inWords(group.lostEntitlements.sorted())
                report.add(
                    at: subject.path(ofBeginning: subject.misplacedEra(group), on: platform), as: details,
                    "customers who bought \(builds) on \(platformName) lose \(lost)\(group.datesHelp ? " wherever the purchase date isn't known" : ""): the release list says that the app was sold then, but by \(group.isByDate ? "date" : key) \(numbers.count == 1 ? "it counts" : "they count") as \(era), which \(lost) \(group.lostEntitlements.count == 1 ? "doesn't" : "don't") honor",
                    fixes: subject.movedBoundary(group, on: platform), subject.advice(on: group, on: platform)
                )
            }
        }
    }
}
