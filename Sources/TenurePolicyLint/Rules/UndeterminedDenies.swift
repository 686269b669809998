import TenureCore
import TenurePolicyFile

/// Finds `whileUndetermined: deny`, with which an app denies entitlements while nothing is known about the customer. So
/// an owner who is offline at the first launch is locked out.
extension LintRule {
    static let undeterminedDenies = LintRule(
        "undetermined-denies", .note, "`whileUndetermined: deny`",
        rationale:
            "At the first launch after the update, nothing is known if the device is offline, or until the App Store responds. An owner who is locked out at that time complains at once.",
        fix: "Allow the entitlements long enough for the App Store to respond: `{ allow: 72h }`."
    ) { subject, report in
        guard let policy = subject.policy, policy.whileUndetermined == .deny else { return }
        let honored = subject.entitlements.filter { !($0.honors ?? []).isEmpty }.map(\.name)
        guard !honored.isEmpty else { return }
        report.add(
            at: ["whileUndetermined"],
            "an owner who is offline at the first launch after the update is refused \(inWords(honored, "or")), because nothing is known yet",
            fixes: .suggestion(
                "write `whileUndetermined: { allow: 72h }`",
                .write(.mapping([.init("allow", .plain("72h"))]), at: ["whileUndetermined"])),
            "allow the entitlements long enough for the App Store to respond")
    }
}
