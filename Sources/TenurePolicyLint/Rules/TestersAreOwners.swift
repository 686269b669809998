import TenureCore
import TenurePolicyFile

/// It worked in the simulator and in TestFlight, and in production the paid content was gone: in test environments every
/// comparison passes, because the version and the date there are invented.
extension LintRule {
    static let testersAreOwners = LintRule(
        "testers-are-owners", .note, "`testEnvironments: owner`",
        story:
            "Everything had passed in TestFlight, where every tester looked like an owner; nobody had seen what a newcomer sees, App Review included.",
        fix: "Write `newCustomer`, and rehearse owners with cases or personas."
    ) { subject, report in
        guard subject.policy?.testEnvironments == .owner else { return }
        let honored = subject.entitlements.filter { !($0.honors ?? []).isEmpty }.map(\.name)
        guard !honored.isEmpty else { return }
        report.add(
            at: ["testEnvironments"],
            "every tester in Sandbox and TestFlight, and App Review, has \(inWords(honored)): nobody sees what a newcomer meets before it is released",
            fix: .suggestion(
                "write `testEnvironments: newCustomer`, and try owners with `tenure policy test`",
                .write(.plain("newCustomer"), at: ["testEnvironments"])),
            "test as a new customer too")
    }
}
