package import Foundation
package import TenureCore
package import TenurePolicyFile

/// Reads a policy as somebody would who has seen thirty of them go wrong.
///
/// Pure: the same files give the same findings. It reads, and never decides anything: what it says of customers, it asks
/// `decide`.
package enum Linter {
    /// Everything at once: the mistakes that keep the file from being a policy, and what its rules would do.
    ///
    /// - Parameters:
    ///   - releases: the releases that really were, from a list beside the policy; nil: the policy's own.
    ///   - old: the policy before this one. Every right that an existing customer would lose is a finding.
    ///   - now: customers who came later are not asked about, nor are rights that ended before.
    /// - Returns: in the order of the text, those of the policy file first.
    package static func findings(
        in draft: PolicyDraft, releases: [ListedRelease]? = nil, against old: Policy? = nil,
        at now: Date = .distantFuture
    ) -> [LintFinding] {
        var findings = draft.mistakes.map { LintFinding($0) }
        if let subject = LintSubject(draft: draft, releases: releases, old: old, now: now) {
            for rule in LintRule.all {
                guard let check = rule.check else { continue }
                var report = LintReport(of: rule, in: draft)
                check(subject, &report)
                findings += report.findings
            }
        }
        return inOrder(findings, mainFile: draft.fileName)
    }

    /// The same of a policy that exists, as the record keeps it; positions are those of its compact JSON.
    package static func findings(
        in policy: Policy, against old: Policy? = nil, at now: Date = .distantFuture
    ) -> [LintFinding] {
        findings(in: PolicyFile.draft(PolicyFile.compile(policy), named: "policy.json"), against: old, at: now)
    }

    private static func inOrder(_ findings: [LintFinding], mainFile: String) -> [LintFinding] {
        func place(_ finding: LintFinding) -> (Int, String, Int, Int) {
            let position = finding.position
            return (position.file == mainFile ? 0 : 1, position.file, position.line, position.column)
        }
        var seen: Set<LintFinding> = []
        return findings.filter { seen.insert($0).inserted }.enumerated()
            .sorted { left, right in
                let places = (place(left.element), place(right.element))
                if places.0 != places.1 { return places.0 < places.1 }
                // Of one place, the gravest first.
                let severities = (left.element.severity, right.element.severity)
                return severities.0 == severities.1 ? left.offset < right.offset : severities.0 > severities.1
            }
            .map(\.element)
    }
}
