import TenureCore
import TenurePolicyFile

/// Owners locked out at the switch, and a critical hot fix: the paid app had been written down, and nothing given for it.
extension LintRule {
    static let paidEraUnhonoured = LintRule(
        "paid-era-unhonoured", .warning, "a paid era that no entitlement honours",
        story: "Owners were locked out at the switch, and the hot fix had to be written the same evening.",
        fix: "Add the era to the `honours` of what its buyers paid for."
    ) { subject, report in
        // An app that is still sold takes nothing from anybody.
        for (index, era) in subject.eras.enumerated().dropLast()
        where era.model == .paid && subject.honoured(in: index).isEmpty {
            guard
                !subject.entitlements.indices.contains(where: {
                    subject.draft.isBroken(["entitlements", .key(subject.entitlements[$0].name)])
                }),
                !subject.draft.isBroken(["eras", .index(index), "model"])
            else { continue }
            report.add(
                at: ["eras", .index(index)],
                "whoever paid for the app in `\(era.name.shortened)` keeps nothing: no entitlement honours it",
                fix: "add `honours: [\(era.name.shortened)]` to \(inWords(subject.entitlements.map(\.name), "or"))")
        }
    }
}
