import TenureCore
import TenurePolicyFile

/// Finds `whileUndetermined: deny`. With this setting, an owner who is offline at the first launch is locked out.
extension LintRule {
    static let undeterminedDenies = LintRule(
        "undetermined-denies", .note, "`whileUndetermined: deny`",
        rationale:
            "At the first launch after the update, offline or before the App Store answers, nothing is known; an owner who is locked out then complains at once.",
        fix: "Allow it long enough for the App Store to respond: `{ allow: 72h }`."
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
            "allow it long enough for the App Store to respond")
    }
}
