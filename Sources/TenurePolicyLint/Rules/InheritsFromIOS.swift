import TenureCore
import TenurePolicyFile

/// Finds platforms for which iOS's boundaries are used. In a universal purchase, builds may differ between platforms.
extension LintRule {
    static let inheritsFromIOS = LintRule(
        "inherits-from-ios", .note, "tvOS, watchOS or visionOS customers to whom iOS's boundaries apply",
        rationale:
            "Builds of the Apple TV app were near two thousand, those of the phone near one thousand, and one boundary applied to both.",
        fix: "Write the platform's own beginnings, or `new` where it began in that era."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated().dropFirst() {
            guard case .at(let version?, _)? = era.begins[.iOS],
                !subject.honored(in: index).elementsEqual(subject.honored(in: index - 1))
            else { continue }
            let inheritingPlatforms = Platform.allCases.filter { platform in
                platform.inheritsFromIOS && era.begins[platform] == nil
                    && !subject.eras[index...].contains { $0.begins[platform] == .new }
                    // Report only platforms in the policy or in a release list: most apps aren't on the other
                    // platforms.
                    && subject.platforms.contains { $0.platform == platform }
            }
            guard !inheritingPlatforms.isEmpty else { continue }
            let names = inheritingPlatforms.map(\.rawValue).joined(separator: ", ")
            report.add(
                at: ["eras", .index(index), "begins", "iOS"],
                "customers who first got the app on \(names) are judged by iOS's build \(version)",
                fix:
                    "if builds differ there, give \(names) a beginning; if the app came there with `\(era.name.shortened)`, the beginning is `new`"
            )
            return
        }
    }
}
