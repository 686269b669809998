import TenureCore
import TenurePolicyFile

/// Finds `testEnvironments: owner`, with which testers in Sandbox and TestFlight have everything that owners have. So
/// no tester sees what a new customer sees.
extension LintRule {
    static let testersAreOwners = LintRule(
        "testers-are-owners", .note, "`testEnvironments: owner`",
        rationale:
            "In one app, every test in TestFlight passed, because every tester had the rights of an owner. Neither testers nor App Review had seen what a new customer sees.",
        fix: "Write `newCustomer`, and test owners with cases or personas."
    ) { subject, report in
        guard subject.policy?.testEnvironments == .owner else { return }
        let honored = subject.entitlements.filter { !($0.honors ?? []).isEmpty }.map(\.name)
        guard !honored.isEmpty else { return }
        report.add(
            at: ["testEnvironments"],
            "every tester in Sandbox and TestFlight, and App Review, has \(inWords(honored)): no tester sees what a new customer sees before the release",
            fixes: .suggestion(
                "write `testEnvironments: newCustomer`, and try owners with `tenure policy test`",
                .write(.plain("newCustomer"), at: ["testEnvironments"])),
            "test as a new customer too")
    }
}
