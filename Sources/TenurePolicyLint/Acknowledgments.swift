import TenureCore
import TenurePolicyFile

/// Applies the acknowledgments in a policy. With an acknowledgment, the developer accepts one finding at one place,
/// such as `changeover-wide` at `eras/freemium/changeover`, so that it doesn't fail the check.
struct Acknowledgments {
    private let input: Linter.Input

    init(in input: Linter.Input) { self.input = input }

    /// Returns the findings, with the reason in each acknowledged one. Adds a mistake for each acknowledgment of a
    /// finding that doesn't exist.
    func applied(to findings: [Linter.FindingWithFixes]) -> [Linter.FindingWithFixes] {
        var result = findings
        for (index, acknowledgment) in input.draft.acknowledgments.enumerated() {
            let path: [PolicyMistake.Step] = ["acknowledge", .index(index)]
            guard !input.draft.isBroken(path) else { continue }
            let covered = result.firstIndex {
                $0.finding.code == acknowledgment.code && $0.finding.place == acknowledgment.at
                    && !$0.finding.isMistake && !$0.finding.isAcknowledged
            }
            if let covered {
                result[covered].finding.acknowledgment = acknowledgment.reason
            } else if let reason = mistake(in: acknowledgment, among: findings.map(\.finding)) {
                let step = LintRule.named(acknowledgment.code)?.check == nil ? "code" : "at"
                result.append(
                    (
                        LintFinding(
                            code: LintRule.acknowledgmentWithoutFinding.code, severity: .error, place: "",
                            position: input.draft.position(of: path + [.key(step)]), message: reason, fix: nil,
                            isMistake: true), []
                    ))
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
        let places = findings.filter { $0.code == rule.code && !$0.isMistake }.map(\.place)
        // The finding may be missing only because the file has mistakes, or because there is no release list or
        // previous policy to compare with.
        if !input.draft.mistakes.isEmpty { return nil }
        switch rule.needs {
        case .nothing: break
        case .releases: if (input.releases ?? input.draft.releases).isEmpty { return nil }
        case .releasesOption: if input.releases == nil { return nil }
        case .oldPolicy: if input.old == nil { return nil }
        }
        let elsewhere = places.isEmpty ? "" : "; it is reported at \(inWords(places))"
        return
            "there is no finding `\(code)` at `\(acknowledgment.at)`\(elsewhere); remove this acknowledgment\(places.isEmpty ? "" : " or correct `at`")"
    }
}
