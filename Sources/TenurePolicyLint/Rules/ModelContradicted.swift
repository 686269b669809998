import TenureCore
import TenurePolicyFile

/// Finds releases with another price model (`paid` or `free`) in the release list than the era (a period with one price
/// model) to which the policy assigns them. Either the list or the policy is wrong. If buyers lose something, the rule
/// `paid-build-unhonored` reports the releases instead.
extension LintRule {
    static let modelContradicted = LintRule(
        "model-contradicted", .error, "a release with another price model than its era",
        rationale:
            "One app was free, then paid, then free again. A policy with one boundary leaves out the paid era in the middle.",
        fix: "Correct the era's beginning or model, or the release's model in the release list.",
        needs: .releases
    ) { subject, report in
        for platform in subject.platforms {
            for group in subject.contradictions(on: platform) where group.lostEntitlements.isEmpty {
                guard let first = group.releases.first else { continue }
                let key = platform.key.rawValue
                let numbers = group.numbers
                let builds = "\(key)\(numbers.count == 1 ? "" : "s") \(inWords(numbers))"
                let era = subject.name(group.era)
                // A free release in a paid era may mean that the next free era begins too late.
                let moved = group.model == .free ? subject.misplacedEra(group) : group.era
                let consequence =
                    group.unpaidEntitlements.isEmpty
                    ? (group.model == .paid && subject.entitlementsHonoring(era: group.era).isEmpty
                        ? ": customers who paid then keep nothing" : "")
                    : ": customers who got the app then get \(inWords(group.unpaidEntitlements.sorted())) for nothing"
                report.add(
                    at: first, on: platform,
                    "the release list says that \(builds) on \(platform.platform.rawValue) (\(first.release.releasedAt.text)) \(numbers.count == 1 ? "was" : "were") \(group.model.rawValue), but by \(group.isByDate ? "date" : key) \(numbers.count == 1 ? "it counts" : "they count") as \(era), which has `model: \(subject.eras[group.era].model.rawValue)`\(consequence)",
                    fixes:
                        "add an era that begins with this release, correct where \(subject.name(moved)) begins, or correct the release's row in the release list"
                )
            }
        }
    }
}
