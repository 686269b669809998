import TenureCore
import TenurePolicyFile

/// One second is a denial: no App Store answers in that time, and no device comes back online.
extension LintRule {
    /// The shortest time in which a customer without a connection can be expected to come back online.
    private static let shortestAllowance: Double = 24 * 3600

    static let allowTooShort = LintRule(
        "allow-too-short", .warning, "`whileUndetermined` that allows for less than a day",
        story:
            "A flight, a night or an outage of the App Store is longer than an hour. Owners who are offline for that long are locked out.",
        fix: "Allow for as long as it takes to find out: `{ allow: 72h }`."
    ) { subject, report in
        guard let policy = subject.policy, case .allow(let seconds) = policy.whileUndetermined,
            seconds < shortestAllowance
        else { return }
        report.add(
            at: ["whileUndetermined"],
            "customers about whom nothing is known yet are refused \(inWords(subject.entitlements.map(\.name), "or")) after \(Duration.text(seconds)): an owner who is offline at the first launch after the update is locked out",
            fix: .suggestion(
                "write `whileUndetermined: { allow: 72h }`",
                .write(.mapping([.init("allow", .plain("72h"))]), at: ["whileUndetermined"])))
    }
}
