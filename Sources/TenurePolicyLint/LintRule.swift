import TenureCore
import TenurePolicyFile

/// One rule: what it finds, why, what to do about it, and how it looks.
package struct LintRule: Sendable {
    /// Stable, in lower case with hyphens.
    package let code: String
    /// The gravest with which it reports.
    package let severity: LintFinding.Severity
    /// What it finds, in a few words.
    package let title: String
    /// Why it matters: what happened to those who did not know.
    package let story: String
    /// What to do, in general.
    package let fix: String
    /// Nil where the reader of the file finds it: then it is a mistake.
    let check: (@Sendable (LintSubject, inout LintReport) -> Void)?

    init(
        _ code: String, _ severity: LintFinding.Severity, _ title: String, story: String, fix: String,
        check: (@Sendable (LintSubject, inout LintReport) -> Void)? = nil
    ) {
        self.code = code
        self.severity = severity
        self.title = title
        self.story = story
        self.fix = fix
        self.check = check
    }
}

/// What one rule found.
struct LintReport {
    private let rule: LintRule
    private let draft: PolicyDraft
    private(set) var findings: [LintFinding] = []

    init(of rule: LintRule, in draft: PolicyDraft) {
        self.rule = rule
        self.draft = draft
    }

    /// - Parameter path: of the part that it is about. Nothing is said of what could not be read.
    mutating func add(at path: [PolicyMistake.Step], _ message: String, fix: String) {
        add(at: path, rule.severity, message, fix: fix)
    }

    /// As grave as said, where that is less than the rule's.
    mutating func add(
        at path: [PolicyMistake.Step], _ severity: LintFinding.Severity, _ message: String, fix: String
    ) {
        guard !draft.isBroken(path) else { return }
        add(at: draft.position(of: path), severity, message, fix: fix)
    }

    /// In the release list.
    mutating func add(at position: SourcePosition, _ message: String, fix: String) {
        add(at: position, rule.severity, message, fix: fix)
    }

    mutating func add(at position: SourcePosition, _ severity: LintFinding.Severity, _ message: String, fix: String) {
        findings.append(
            LintFinding(
                code: rule.code, severity: severity, position: position, message: message, fix: fix, isMistake: false))
    }
}
