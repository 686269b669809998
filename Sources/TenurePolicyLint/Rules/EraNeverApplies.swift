import TenureCore
import TenureJSON
import TenurePolicyFile

/// Finds an era (a period in which the app was paid, or free) to which no customer can belong, or that can't be
/// separated from the next era:
/// - The era ends at the instant at which it begins.
/// - The era and the next era begin with the same version, and at least one of them has no date.
/// - On each platform, the app came only in a later era.
///
/// For example, the middle of three eras has the same beginning as the last era.
extension LintRule {
    static let eraNeverApplies = LintRule(
        "era-never-applies", .warning, "an era that can have no customers, or can't be separated from the next era",
        rationale:
            "An era that ends at the build and instant at which it begins has no customers. Honoring it gives no one anything.",
        fix: "Correct the beginning of the era or of the next era, or remove the era."
    ) { subject, report in
        for platform in subject.platforms {
            let beginnings = platform.timeline.beginnings
            for index in beginnings.indices.dropFirst().dropLast() where index >= platform.timeline.firstEra {
                guard case .at(let version, let date)? = beginnings[index],
                    let following = platform.timeline.era(after: index),
                    case .at(let nextVersion, let nextDate)? = beginnings[following],
                    let change = EraChange(to: following, on: platform, in: subject)
                else { continue }
                let era = subject.name(index)
                let next = subject.name(following)
                let platformName = platform.platform.rawValue
                if let date, date == nextDate {
                    report.add(
                        at: change.path,
                        "\(era) ends on \(platformName) at the instant at which it begins (\(date.rfc3339)): no customer belongs to it, so honoring it gives nothing",
                        fixes: "correct `at` of \(era) or of \(next)")
                } else if let version, version == nextVersion, date == nil || nextDate == nil {
                    report.add(
                        at: change.path,
                        "\(era) and \(next) begin on \(platformName) with one \(platform.key.rawValue) (\(version)), and no instant separates them: customers who came then may belong to either",
                        fixes: "add `at` to both eras, or correct one \(platform.key.rawValue)")
                }
            }
        }
        // On each platform, the app came only in a later era.
        for index in subject.eras.indices {
            let isAnywhere = subject.platforms.contains { $0.timeline.eras.contains(index) }
            guard !subject.platforms.isEmpty, !isAnywhere else { continue }
            report.add(
                at: ["eras", .index(index)],
                "\(subject.name(index)) never applies: every platform is `new` in a later era",
                fixes:
                    "remove the era, or write the build or instant with which the later era begins where the app existed before"
            )
        }
    }
}
