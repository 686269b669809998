import TenureCore
import TenurePolicyFile

/// Finds a policy without `appleID`, the number by which App Store Connect identifies the app. With an Apple ID, Tenure
/// also compares this number in app transactions and receipts, and not the bundle ID alone.
extension LintRule {
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
