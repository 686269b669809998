import TenureCore
import TenurePolicyFile

/// A library assumed the current version as the original one while offline, and denied. Denying while nothing is known
/// has the same effect.
extension LintRule {
    static let undeterminedDenies = LintRule(
        "undetermined-denies", .note, "`whileUndetermined: deny`",
        story:
            "At the first launch after the update, offline or before the App Store answers, nothing is known; an owner who is locked out then complains at once.",
        fix: "Allow for as long as it takes to find out: `{ allow: 72h }`."
    ) { subject, report in
        guard let policy = subject.policy, policy.whileUndetermined == .deny else { return }
        let honored = subject.entitlements.filter { !($0.honors ?? []).isEmpty }.map(\.name)
        guard !honored.isEmpty else { return }
        report.add(
            at: ["whileUndetermined"],
            "an owner who is offline at the first launch after the update is refused \(inWords(honored, "or")), because nothing is known yet",
            fix: .suggestion(
                "write `whileUndetermined: { allow: 72h }`",
                .write(.mapping([.init("allow", .plain("72h"))]), at: ["whileUndetermined"])),
            "allow for as long as it takes to find out")
    }
}
