import TenureCore
import TenurePolicyFile

/// Tests the edits that rules suggest: applies them to the policy file, and checks the result with the linter.
struct Suggestions {
    private let input: Linter.Input
    /// The findings for the unchanged file.
    private let before: [FindingKey: LintFinding.Severity]
    /// The findings after each list of edits that was already tested.
    private var results: [[PolicyEdit]: [FindingKey: LintFinding.Severity]] = [:]
    /// The edits of the fixes that work together, and the findings that they resolve.
    private var combined: (edits: [PolicyEdit], findings: Set<FindingKey>) = ([], [])
    /// How many more tests of each kind are allowed. Each test checks the whole policy again, so fewer tests are
    /// allowed for a long release list or many entitlements.
    private var testsLeft: [TestKind: Int]

    /// What a test applies to the policy file: one fix, or several fixes together.
    private enum TestKind { case single, combined }

    /// - Parameter findings: the findings for the unchanged file.
    init(for input: Linter.Input, findings: [LintFinding]) {
        self.input = input
        before = Self.severities(of: findings)
        let size = (input.releases ?? input.draft.releases).count + input.draft.entitlements.count
        let tests = max(6, min(64, 60_000 / (size + 1)))
        testsLeft = [.single: tests, .combined: tests]
    }

    /// The words at the end of a fix that may not work together with the fixes of other findings.
    static let appliesAlone = "; check again before you apply another fix"

    /// Returns the first fix that resolves the finding and causes no other finding. If there is no such fix, returns
    /// the first advice.
    ///
    /// If the fix doesn't work together with the fixes that this method returned before, its text ends with
    /// `appliesAlone`. So call this method for the most severe findings first.
    mutating func best(of fixes: [LintFix], for finding: LintFinding) -> LintFix? {
        let key = FindingKey(finding)
        guard let fix = fixes.first(where: { !$0.edits.isEmpty && resolve($0.edits, [key], in: .single) })
        else { return fixes.first { $0.edits.isEmpty } }
        let newEdits = fix.edits.filter { !combined.edits.contains($0) }
        let edits = (combined.edits + newEdits).inApplicableOrder
        let findings = combined.findings.union([key])
        let overlaps = newEdits.contains { edit in combined.edits.contains { $0.overlaps(edit) } }
        guard !overlaps, resolve(edits, findings, in: .combined) else {
            return LintFix(text: fix.text + Self.appliesAlone, edits: fix.edits)
        }
        combined = (edits, findings)
        return fix
    }

    /// Whether the edits remove these findings, add no other finding, and make no other finding more severe. False if
    /// no more tests are allowed.
    ///
    /// - Parameter kind: the kind of test. A test reduces the number of tests that are left of its kind.
    private mutating func resolve(_ edits: [PolicyEdit], _ findings: Set<FindingKey>, in kind: TestKind) -> Bool {
        if results[edits] == nil {
            guard let left = testsLeft[kind], left > 0 else { return false }
            testsLeft[kind] = left - 1
            var edited = input
            edited.draft = input.draft.edited(by: edits)
            results[edits] = Self.severities(of: Linter.findingsWithFixes(edited).map(\.finding))
        }
        guard let after = results[edits], findings.allSatisfy({ after[$0] == nil }) else { return false }
        return after.allSatisfy { key, severity in
            guard let severityBefore = before[key] else { return false }
            return severity <= severityBefore
        }
    }

    /// Returns the highest severity of each finding.
    private static func severities(of findings: [LintFinding]) -> [FindingKey: LintFinding.Severity] {
        Dictionary(findings.map { (FindingKey($0), $0.severity) }, uniquingKeysWith: max)
    }
}

extension PolicyEdit {
    /// Whether one edit writes or removes what the other one writes, or a part of it.
    fileprivate func overlaps(_ other: PolicyEdit) -> Bool {
        path.starts(with: other.path) || other.path.starts(with: path)
    }
}

extension [PolicyEdit] {
    /// The edits in an order in which no edit changes the path of a later one. Removals (edits without a value) come
    /// last. The elements of one list are removed from the last to the first.
    var inApplicableOrder: [PolicyEdit] {
        func index(_ edit: PolicyEdit) -> Int { if case .index(let index)? = edit.path.last { index } else { 0 } }
        return filter { $0.value != nil } + filter { $0.value == nil }.sorted { index($0) > index($1) }
    }
}

/// Identifies a finding before and after an edit: by rule and place. Mistakes have no place, so they are identified by
/// file and message.
private struct FindingKey: Hashable {
    let code: String
    let place: String

    init(_ finding: LintFinding) {
        code = finding.code
        place = finding.isMistake ? "\(finding.position.file): \(finding.message)" : finding.place
    }
}
