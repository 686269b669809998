import TenureCore
import TenurePolicyFile

/// Owners locked out at the switch, and a critical hot fix: the paid app had been written down, and nothing given for it.
extension LintRule {
    static let paidEraUnhonored = LintRule(
        "paid-era-unhonored", .warning, "a paid era that no entitlement honors",
        story: "Owners were locked out at the switch, and the hot fix had to be written the same evening.",
        fix: "Add the era to the `honors` of what its buyers paid for."
    ) { subject, report in
        // An app that is still sold takes nothing from anybody.
        for (index, era) in subject.eras.enumerated().dropLast()
        where era.model == .paid && subject.honored(in: index).isEmpty {
            guard
                !subject.entitlements.indices.contains(where: {
                    subject.draft.isBroken(["entitlements", .key(subject.entitlements[$0].name)])
                }),
                !subject.draft.isBroken(["eras", .index(index), "model"])
            else { continue }
            report.add(
                at: ["eras", .index(index)],
                "whoever paid for the app in `\(era.name.shortened)` keeps nothing: no entitlement honors it",
                fix: "add `honors: [\(era.name.shortened)]` to \(inWords(subject.entitlements.map(\.name), "or"))")
        }
    }
}
