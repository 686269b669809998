import Foundation
import TenureCore
import TenurePolicyFile

/// Tests each suggestion: applies it to the file, and checks the result with the linter.
struct Suggestions {
    private let input: Linter.Input
    /// The findings for the unchanged file.
    private let before: [FindingKey: LintFinding.Severity]
    /// The findings after edits that were already tested.
    private var results: [[PolicyEdit]: [FindingKey: LintFinding.Severity]] = [:]
    /// How many more tests are allowed. Each test checks the whole policy again, so fewer tests are allowed for a long
    /// release list.
    private var testsLeft: Int

    /// - Parameter findings: the findings for the unchanged file.
    init(for input: Linter.Input, findings: [LintFinding]) {
        self.input = input
        before = Self.keys(of: findings)
        testsLeft = max(6, min(64, 60_000 / ((input.releases ?? input.draft.releases).count + 1)))
    }

    /// Returns the first fix that resolves the finding and causes no other finding. If there is no such fix, returns
    /// the first advice.
    mutating func best(of fixes: [LintFix], for finding: LintFinding) -> LintFix? {
        fixes.first { !$0.edits.isEmpty && resolves($0.edits, finding) } ?? fixes.first { $0.edits.isEmpty }
    }

    /// Whether the edits remove the finding, add no other finding, and make no other finding more severe.
    private mutating func resolves(_ edits: [PolicyEdit], _ finding: LintFinding) -> Bool {
        guard let after = result(of: edits), after[FindingKey(finding)] == nil else { return false }
        return after.allSatisfy { key, severity in before[key].map { severity <= $0 } ?? false }
    }

    /// Returns the findings after the edits. Nil if no more tests are allowed.
    private mutating func result(of edits: [PolicyEdit]) -> [FindingKey: LintFinding.Severity]? {
        if let result = results[edits] { return result }
        guard testsLeft > 0 else { return nil }
        testsLeft -= 1
        var edited = input
        edited.draft = input.draft.edited(by: edits)
        let result = Self.keys(of: Linter.findingsWithFixes(edited).map(\.finding))
        results[edits] = result
        return result
    }

    /// Returns the highest severity of each finding.
    private static func keys(of findings: [LintFinding]) -> [FindingKey: LintFinding.Severity] {
        var keys: [FindingKey: LintFinding.Severity] = [:]
        for finding in findings {
            let key = FindingKey(finding)
            keys[key] = max(keys[key] ?? .note, finding.severity)
        }
        return keys
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
