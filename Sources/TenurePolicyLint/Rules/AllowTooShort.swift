import TenureCore
import TenurePolicyFile

/// Finds a `whileUndetermined` of less than a day. The setting says how long an app allows entitlements while nothing
/// is known about the customer. In less than a day, the App Store may not respond, and the device may stay offline, so
/// owners are locked out.
extension LintRule {
    /// The shortest time that isn't reported, in seconds. Within a day, most devices are online at least once.
    private static let minimumAllowance: Double = 24 * 3600

    static let allowTooShort = LintRule(
        "allow-too-short", .warning, "`whileUndetermined` that allows for less than a day",
        rationale:
            "A flight, a night or an outage of the App Store is longer than an hour. Owners who are offline for that long are locked out.",
        fix: "Allow the entitlements long enough for the App Store to respond: `{ allow: 72h }`."
    ) { subject, report in
        guard let policy = subject.policy, case .allow(let seconds) = policy.whileUndetermined,
            seconds < minimumAllowance
        else { return }
        report.add(
            at: ["whileUndetermined"],
            "after \(Duration.text(seconds)), customers without evidence are denied \(inWords(subject.entitlements.map(\.name), "or")): an owner who is offline at the first launch after the update is locked out",
            fixes: .suggestion(
                "write `whileUndetermined: { allow: 72h }`",
                .write(.mapping([.init("allow", .plain("72h"))]), at: ["whileUndetermined"])))
    }
}
