import Foundation
import TenureCore
import TenurePolicyFile

/// Owners were locked out by a new version of the rules more than once, by the same hands that had let them in: a renamed
/// entitlement, a boundary corrected by one build, a product dropped from a list. On a device without a service the bundled
/// policy holds as written, and nothing remembers what it once gave.
extension LintRule {
    static let rightLost = LintRule(
        "right-lost", .error, "compared with the policy before: a right that existing customers would lose",
        story:
            "Owners were locked out by the next version of the rules: a renamed entitlement, a boundary moved by one build.",
        fix: "Give it back: the era under `honors`, the boundary, the product or the entitlement's name."
    ) { subject, report in
        subject.report(into: &report) { if case .denied = $0 { "would lose \($1)" } else { nil } }
    }

    static let rightShortened = LintRule(
        "right-shortened", .error, "compared with the policy before: a right that would end earlier",
        story:
            "A year that was announced and became half a year is a promise broken, if nobody reads the change as one.",
        fix: "Keep the end that was announced, or a later one."
    ) { subject, report in
        subject.report(into: &report) { fate, name in
            guard case .shortened(let from, let to) = fate else { return nil }
            return
                "would have \(name) until \(to.rfc3339) instead of \(from.map { "until \($0.rfc3339)" } ?? "for good")"
        }
    }

    static let rightUncertain = LintRule(
        "right-uncertain", .warning, "compared with the policy before: a right that would become undetermined",
        story:
            "A boundary that lost its instant takes nothing from anybody on paper, and leaves support with every second owner.",
        fix: "Give the boundary back what told these customers apart, or `inDoubt: favorCustomer`."
    ) { subject, report in
        subject.report(into: &report) {
            if case .undetermined = $0 { "would no longer be sure of \($1)" } else { nil }
        }
    }

    /// What a doubt means, what a question gets meanwhile and what testers meet are edits that no line about an era shows.
    static let settingsEdited = LintRule(
        "settings-edited", .note,
        "compared with the policy before: another `inDoubt`, `whileUndetermined` or `testEnvironments`",
        story: "One word at the end of the file changes the answer for everybody about whom there is a doubt.",
        fix: "Make sure that it is meant."
    ) { subject, report in
        guard let old = subject.old, let new = subject.policy else { return }
        if old.inDoubt != new.inDoubt {
            report.add(
                at: ["inDoubt"],
                "`inDoubt` was `\(old.inDoubt.rawValue)` and is `\(new.inDoubt.rawValue)`: \(new.inDoubt == .undetermined ? "customers whose proofs leave a doubt, such as buyers within a changeover window, are no longer granted what they have" : "customers whose proofs leave a doubt are now granted what was undetermined")",
                fix: "keep `\(old.inDoubt.rawValue)` unless that is meant")
        }
        if old.whileUndetermined != new.whileUndetermined {
            report.add(
                at: ["whileUndetermined"],
                "`whileUndetermined` was \(old.whileUndetermined.inWords) and is \(new.whileUndetermined.inWords): that is what customers get before anything is known of them",
                fix: "keep \(old.whileUndetermined.inWords) unless that is meant")
        }
        if old.testEnvironments != new.testEnvironments {
            report.add(
                at: ["testEnvironments"],
                "`testEnvironments` was `\(old.testEnvironments.rawValue)` and is `\(new.testEnvironments.rawValue)`: testers and App Review meet another app; customers do not",
                fix: "keep `\(old.testEnvironments.rawValue)` unless that is meant")
        }
    }

    /// A new app record charged its customers twice: nothing of the old app's receipts belongs to the new one.
    static let appChanged = LintRule(
        "app-changed", .error, "compared with the policy before: another app",
        story:
            "A new app record in App Store Connect charged its customers twice, since what they owned belonged to the old one.",
        fix: "Compare with the policy of the same app; moving to a new record is a matter of grants."
    ) { subject, report in
        guard let old = subject.old?.app, let new = subject.draft.app else { return }
        if old.bundleID != new.bundleID {
            report.add(
                at: ["app", "bundleID"],
                "the bundle id was `\(old.bundleID.shortened)`: no artifact of a customer of that app counts for `\(new.bundleID.shortened)`",
                fix: "write `\(old.bundleID.shortened)`")
        }
        if let id = old.appleID, new.appleID != id {
            report.add(
                at: ["app", "appleID"],
                "the Apple ID was `\(id)`\(new.appleID.map { " and is `\($0)`" } ?? " and is no longer said"): \(new.appleID == nil ? "production artifacts are matched by bundle id alone" : "no production artifact of an existing customer counts")",
                fix: "write `appleID: \(id)`")
        }
    }
}

extension LintSubject {
    /// Reports every loss for which there are words.
    fileprivate func report(
        into report: inout LintReport, _ words: (RightsComparison.Fate, _ entitlement: String) -> String?
    ) {
        guard let old, let rights else { return }
        for loss in rights.losses {
            guard let fate = words(loss.fate, "`\(loss.entitlement.shortened)`") else { continue }
            report.add(
                at: place(of: loss.entitlement), "\(loss.customers) \(fate)",
                fix: fix(for: loss.entitlement, under: old))
        }
        for loss in rights.productLosses {
            guard let fate = words(loss.fate, "`\(loss.entitlement.shortened)`") else { continue }
            report.add(
                at: place(of: loss.entitlement),
                "whoever has bought `\(loss.product.shortened)`, and came in no era that gives it, \(fate)",
                fix: isNamed(loss.entitlement)
                    ? "keep `\(loss.product.shortened)` under `products`, as it was"
                    : fix(for: loss.entitlement, under: old))
        }
    }

    private func isNamed(_ entitlement: String) -> Bool { entitlements.contains { $0.name == entitlement } }

    private func place(of entitlement: String) -> [PolicyMistake.Step] {
        isNamed(entitlement) ? ["entitlements", .key(entitlement)] : ["entitlements"]
    }

    private func fix(for entitlement: String, under old: Policy) -> String {
        guard isNamed(entitlement) else {
            return "keep `\(entitlement.shortened)` under its name; a new name can stand beside it"
        }
        let before = old.entitlement(named: entitlement)?.honors ?? []
        let honored = entitlements.first { $0.name == entitlement }?.honors ?? []
        let missing = before.filter { !honored.contains($0) }.map(\.era)
        return missing.isEmpty
            ? "keep where eras begin, the changeover windows and `inDoubt` as they were, or honor one more era"
            : "keep the honor of \(inWords(missing)) as it was"
    }
}

extension Policy.WhileUndetermined {
    fileprivate var inWords: String {
        switch self {
        case .deny: "`deny`"
        case .allow(let seconds): "`{ allow: \(Duration.text(seconds)) }`"
        }
    }
}
