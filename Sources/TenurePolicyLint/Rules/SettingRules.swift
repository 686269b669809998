import TenureCore
import TenureJSON
import TenurePolicyFile

/// The rules about the settings of a policy: `testEnvironments`, `whileUndetermined` and the app's `appleID`.
extension LintRule {
    /// Finds `testEnvironments: owner`, with which testers in Sandbox and TestFlight have everything that owners have.
    /// So no tester sees what a new customer sees.
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
                .write(.string("newCustomer"), at: ["testEnvironments"])),
            "test as a new customer too")
    }

    /// Finds `whileUndetermined: deny`, with which an app denies entitlements while nothing is known about the
    /// customer. So an owner who is offline at the first launch is locked out.
    static let undeterminedDenies = LintRule(
        "undetermined-denies", .note, "`whileUndetermined: deny`",
        rationale:
            "At the first launch after the update, nothing is known if the device is offline, or until the App Store responds. An owner who is locked out at that time complains at once.",
        fix: "Allow the entitlements long enough for the App Store to respond: `{ allow: 72h }`."
    ) { subject, report in
        guard subject.policy?.whileUndetermined == .deny else { return }
        let honored = subject.entitlements.filter { !($0.honors ?? []).isEmpty }.map(\.name)
        guard !honored.isEmpty else { return }
        report.add(
            at: ["whileUndetermined"],
            "an owner who is offline at the first launch after the update is refused \(inWords(honored, "or")), because nothing is known yet",
            fixes: .suggestion(
                "write `whileUndetermined: { allow: 72h }`",
                .write(.object(["allow": .string("72h")]), at: ["whileUndetermined"])),
            "allow the entitlements long enough for the App Store to respond")
    }

    /// The shortest time that isn't reported, in seconds. Within a day, most devices are online at least once.
    private static let minimumAllowance: Double = 24 * 3600

    /// Finds a `whileUndetermined` of less than a day. The setting says how long an app allows entitlements while
    /// nothing is known about the customer. In less than a day, the App Store may not respond, and the device may stay
    /// offline, so owners are locked out.
    static let allowTooShort = LintRule(
        "allow-too-short", .warning, "`whileUndetermined` that allows for less than a day",
        rationale:
            "A flight, a night or an outage of the App Store can last for hours. Owners who are offline for that long are locked out.",
        fix: "Allow the entitlements long enough for the App Store to respond: `{ allow: 72h }`."
    ) { subject, report in
        guard case .allow(let seconds)? = subject.policy?.whileUndetermined, seconds < minimumAllowance else { return }
        report.add(
            at: ["whileUndetermined"],
            "after \(Duration.text(seconds)), customers without evidence are denied \(inWords(subject.entitlements.map(\.name), "or")): an owner who is offline at the first launch after the update is locked out",
            fixes: .suggestion(
                "write `whileUndetermined: { allow: 72h }`",
                .write(.object(["allow": .string("72h")]), at: ["whileUndetermined"])))
    }

    /// Finds a policy without `appleID`, the number by which App Store Connect identifies the app. With an Apple ID,
    /// Tenure also compares this number in app transactions and receipts, and not the bundle ID alone.
    static let noAppleID = LintRule(
        "no-apple-id", .note, "an app without its Apple ID",
        rationale:
            "Production artifacts identify the app by its Apple ID. Without the Apple ID, artifacts are matched by bundle ID alone, and the service doesn't start for production.",
        fix: "Add `appleID`; App Store Connect shows it under App Information."
    ) { subject, report in
        guard let app = subject.draft.app, app.appleID == nil, !subject.draft.isBroken(["app"]) else { return }
        report.add(
            at: ["app"],
            "production artifacts of `\(app.bundleID.shortened)` are matched by bundle ID alone, and `tenure serve` doesn't start for production",
            fixes: "add the `appleID` that App Store Connect shows under App Information")
    }
}
