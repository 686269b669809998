import TenureCore
import TenurePolicyFile

/// Finds a trial of an entitlement that all customers already have, because it honors every era: every customer has it,
/// whenever they got the app.
extension LintRule {
    static let trialForEverybody = LintRule(
        "trial-for-everybody", .warning, "a trial of an entitlement that everyone has",
        rationale:
            "One app showed an owner the rest of a trial, and the owner asked what they had bought.",
        fix: "Remove the `trial`, or remove the last era from `honors`."
    ) { subject, report in
        for entitlement in subject.entitlements where subject.isPermanentForAll(entitlement) {
            guard let trial = entitlement.trial else { continue }
            report.add(
                at: ["entitlements", .key(entitlement.name), "trial"],
                "no customer needs \(trial.inWords) of trial: `\(entitlement.name.shortened)` is honored for every era (\(subject.eras.map { "`\($0.name.shortened)`" }.joined(separator: ", "))), so everyone who has the app has it",
                fixes: .suggestion(
                    "remove `trial`, or the last era from `honors`",
                    .remove(["entitlements", .key(entitlement.name), "trial"])),
                "remove the trial, or the last era from `honors`")
        }
    }
}
