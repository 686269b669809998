package import Foundation
package import TenureCore
package import TenurePolicyFile

/// Checks a policy for unintended effects.
///
/// The linter reads no files and no clock: the same input gives the same findings. To find out what a customer would
/// get, it calls `decide`, which makes all decisions of Tenure.
package enum Linter {
    /// Returns the mistakes in a policy file, and effects of the policy that its author probably didn't intend.
    ///
    /// - Parameters:
    ///   - draft: the policy file.
    ///   - releases: the real releases, from a separate list; nil to use the policy's own list.
    ///   - isListMapped: whether the separate list is an export with other columns, for the option `--map`. A policy
    ///     can't use such a list.
    ///   - old: the previous policy. Each right that existing customers have under it and would lose is a finding.
    ///   - now: the time of the check. Customers who came later, and rights that ended before, are ignored. By default,
    ///     no time is considered.
    /// - Returns: the findings in the order of the text, those in the policy file first. Findings that the policy
    ///   acknowledges are included.
    package static func findings(
        in draft: PolicyDraft, releases: [ListedRelease]? = nil, isListMapped: Bool = false, against old: Policy? = nil,
        at now: Date = .distantFuture
    ) -> [LintFinding] {
        let input = Input(draft: draft, releases: releases, isListMapped: isListMapped, old: old, now: now)
        let checked = findingsWithFixes(input)
        var findings = checked.map(\.finding)
        var suggestions = Suggestions(for: input, findings: findings)
        // Choose the fixes of the most severe findings first, because each further fix has to work together with them.
        let bySeverity = findings.indices.sorted { findings[$0].severity > findings[$1].severity }
        for index in bySeverity {
            if let fix = suggestions.best(of: checked[index].fixes, for: findings[index]) {
                findings[index].fix = fix.text
                findings[index].edits = fix.edits
            }
        }
        return findings.sorted { left, right in
            let leftPlace = left.position.order(mainFile: draft.fileName)
            let rightPlace = right.position.order(mainFile: draft.fileName)
            // At the same position, sort the most severe first.
            return leftPlace == rightPlace ? left.severity > right.severity : leftPlace < rightPlace
        }
    }

    /// Checks a policy without its file. Positions refer to the policy's compact JSON.
    package static func findings(
        in policy: Policy, against old: Policy? = nil, at now: Date = .distantFuture
    ) -> [LintFinding] {
        findings(in: PolicyFile.draft(PolicyFile.compile(policy), named: "policy.json"), against: old, at: now)
    }

    /// The input of the linter.
    struct Input: Sendable {
        var draft: PolicyDraft
        let releases: [ListedRelease]?
        let isListMapped: Bool
        let old: Policy?
        let now: Date
    }

    /// A finding, and the fixes that may resolve it.
    typealias FindingWithFixes = (finding: LintFinding, fixes: [LintFix])

    /// Returns the mistakes in the file and the findings of all rules, with the fixes that may resolve them. Findings
    /// that the policy acknowledges are marked.
    static func findingsWithFixes(_ input: Input) -> [FindingWithFixes] {
        var allFindings: [FindingWithFixes] = input.draft.mistakes.map { (LintFinding($0), []) }
        if let subject = LintSubject(input) {
            for rule in LintRule.all {
                guard let check = rule.check else { continue }
                var report = LintReport(rule: rule, draft: input.draft)
                check(subject, &report)
                allFindings += report.findings
            }
        }
        var seen: Set<LintFinding> = []
        return input.acknowledging(allFindings.filter { seen.insert($0.finding).inserted })
    }
}

extension Linter.Input {
    /// Applies the acknowledgments in the policy. With an acknowledgment, the developer accepts one finding at one
    /// place, such as `changeover-wide` at `eras/freemium/changeover`, so that it doesn't fail the check.
    ///
    /// Returns the findings, with the reason in each acknowledged one. Adds a mistake for each acknowledgment of a
    /// finding that doesn't exist.
    fileprivate func acknowledging(_ findings: [Linter.FindingWithFixes]) -> [Linter.FindingWithFixes] {
        var result = findings
        for (index, acknowledgment) in draft.acknowledgments.enumerated() {
            let path: [PolicyMistake.Step] = ["acknowledge", .index(index)]
            guard !draft.isBroken(path) else { continue }
            let acknowledgedIndex = result.firstIndex {
                $0.finding.code == acknowledgment.code && $0.finding.place == acknowledgment.at
                    && !$0.finding.isMistake && !$0.finding.isAcknowledged
            }
            if let acknowledgedIndex {
                result[acknowledgedIndex].finding.acknowledgment = acknowledgment.reason
            } else if let reason = mistake(in: acknowledgment, among: findings.map(\.finding)) {
                let step = LintRule.named(acknowledgment.code)?.check == nil ? "code" : "at"
                let finding = LintFinding(
                    code: LintRule.acknowledgmentWithoutFinding.code, severity: .error, place: "",
                    position: draft.position(of: path + [.key(step)]), message: reason, isMistake: true)
                result.append((finding, []))
            }
        }
        return result
    }

    /// Returns what is wrong with an acknowledgment that matches no finding; nil if the finding may be missing only
    /// because this check had too little input.
    private func mistake(in acknowledgment: Acknowledgment, among findings: [LintFinding]) -> String? {
        let code = acknowledgment.code.shortened
        guard let rule = LintRule.named(acknowledgment.code) else {
            let codes = LintRule.all.filter { $0.check != nil }.map(\.code)
            return "there is no rule `\(code)`; \(Spelling.advice(for: acknowledgment.code, among: codes))"
        }
        guard rule.check != nil else {
            return
                "`\(code)` is a mistake in the file and can't be acknowledged; correct the mistake, and remove the acknowledgment"
        }
        // The finding may be missing only because the file has mistakes, or because there is no release list or
        // previous policy to compare with.
        if !draft.mistakes.isEmpty { return nil }
        switch rule.needs {
        case .nothing: break
        case .releases: if (releases ?? draft.releases).isEmpty { return nil }
        case .releasesOption: if releases == nil { return nil }
        case .oldPolicy: if old == nil { return nil }
        }
        let places = findings.filter { $0.code == rule.code && !$0.isMistake }.map(\.place)
        let elsewhere = places.isEmpty ? "" : "; it is reported at \(inWords(places))"
        return
            "there is no finding `\(code)` at `\(acknowledgment.at)`\(elsewhere); remove this acknowledgment\(places.isEmpty ? "" : " or correct `at`")"
    }
}
