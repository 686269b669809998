import TenureCore
import TenurePolicyFile

/// Finds platforms that use the boundaries of iOS (the builds with which eras begin), because the policy has none for
/// them. If one purchase is valid on several platforms, the builds may still differ between them.
extension LintRule {
    static let inheritsFromIOS = LintRule(
        "inherits-from-ios", .note, "a tvOS, watchOS or visionOS app that uses the boundaries of iOS",
        rationale:
            "In one app, builds for Apple TV were near two thousand and builds for the phone near one thousand. One boundary applied to both platforms.",
        fix:
            "Add the platform under `begins` with its own builds, or with `new` if the app came to the platform in that era."
    ) { subject, report in
        for (index, era) in subject.eras.enumerated().dropFirst() {
            guard case .at(let version?, _)? = era.begins[.iOS],
                !subject.entitlementsHonoring(era: index).elementsEqual(subject.entitlementsHonoring(era: index - 1))
            else { continue }
            let inheritingPlatforms = Platform.allCases.filter { platform in
                platform.inheritsFromIOS && era.begins[platform] == nil
                    && !subject.eras[index...].contains { $0.begins[platform] == .new }
                    // Report only platforms in the policy or a release list: most apps aren't on the other platforms.
                    && subject.platforms.contains { $0.platform == platform }
            }
            guard !inheritingPlatforms.isEmpty else { continue }
            let names = inheritingPlatforms.map(\.rawValue).joined(separator: ", ")
            report.add(
                at: ["eras", .index(index), "begins", "iOS"],
                "customers who first got the app on \(names) are judged by iOS's build \(version)",
                fixes:
                    "if builds differ there, add \(names) under `begins` of `\(era.name.shortened)`; its value is `new` if the app came there in that era"
            )
            return
        }
    }
}
