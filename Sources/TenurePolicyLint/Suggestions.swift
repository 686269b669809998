import Foundation
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
    /// How many more tests are allowed: of a single fix, and of several fixes together. Each test checks the whole
    /// policy again, so fewer tests are allowed for a long release list or many entitlements.
    private var testsLeft: (single: Int, combined: Int)

    /// - Parameter findings: the findings for the unchanged file.
    init(for input: Linter.Input, findings: [LintFinding]) {
        self.input = input
        before = Self.severities(of: findings)
        let size = (input.releases ?? input.draft.releases).count + input.draft.entitlements.count
        let tests = max(6, min(64, 60_000 / (size + 1)))
        testsLeft = (tests, tests)
    }

    /// The words at the end of a fix that may not work together with the fixes of other findings.
    static let alone = "; check again before you apply another fix"

    /// Returns the first fix that resolves the finding and causes no other finding. If there is no such fix, returns
    /// the first advice.
    ///
    /// If the fix doesn't work together with the fixes that this method returned before, its text ends with `alone`. So
    /// call this method for the most severe findings first.
    mutating func best(of fixes: [LintFix], for finding: LintFinding) -> LintFix? {
        let key = FindingKey(finding)
        guard let fix = fixes.first(where: { !$0.edits.isEmpty && resolve($0.edits, [key], countedBy: \.single) })
        else { return fixes.first { $0.edits.isEmpty } }
        let more = fix.edits.filter { !combined.edits.contains($0) }
        let edits = (combined.edits + more).inApplicableOrder
        let findings = combined.findings.union([key])
        guard !more.contains(where: { edit in combined.edits.contains { $0.overlaps(edit) } }),
            resolve(edits, findings, countedBy: \.combined)
        else { return LintFix(text: fix.text + Self.alone, edits: fix.edits) }
        combined = (edits, findings)
        return fix
    }

    /// Whether the edits remove these findings, add no other finding, and make no other finding more severe. False if
    /// no more tests are allowed.
    ///
    /// - Parameter budget: the number of allowed tests from which this test is subtracted.
    private mutating func resolve(
        _ edits: [PolicyEdit], _ findings: Set<FindingKey>,
        countedBy budget: WritableKeyPath<(single: Int, combined: Int), Int>
    ) -> Bool {
        if results[edits] == nil {
            guard testsLeft[keyPath: budget] > 0 else { return false }
            testsLeft[keyPath: budget] -= 1
            var edited = input
            edited.draft = input.draft.edited(by: edits)
            results[edits] = Self.severities(of: Linter.findingsWithFixes(edited).map(\.finding))
        }
        guard let after = results[edits], findings.allSatisfy({ after[$0] == nil }) else { return false }
        return after.allSatisfy { key, severity in before[key].map { severity <= $0 } ?? false }
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
    /// The edits in an order in which no edit changes the path of a later one: the removals last, and elements of one
    /// list from the last to the first.
    var inApplicableOrder: [PolicyEdit] {
        func index(_ edit: PolicyEdit) -> Int { if case .index(let index)? = edit.path.last { index } else { 0 } }
        return filter { $0.value != nil } + filter { $0.value == nil }.sorted { index($0) > index($1) }
    }
}

/// Identifies a finding before and after an edit: by rule and place, or by message for a mistake.
private struct FindingKey: Hashable {
    let code: String
    let place: String

    init(_ finding: LintFinding) {
        code = finding.code
        place = finding.isMistake ? "\(finding.position.file): \(finding.message)" : finding.place
    }
}
