import TenureCore
import TenurePolicyFile

/// The findings of one rule, each with the fixes that may resolve it.
struct LintReport {
    let rule: LintRule
    let draft: PolicyDraft
    private(set) var findings: [Linter.FindingWithFixes] = []

    /// Adds a finding about a part of the policy.
    ///
    /// - Parameters:
    ///   - path: the path of the part that the finding is about. If the part couldn't be read, nothing is added.
    ///   - details: words that the finding's place gets in addition to the path, if the rule may have several findings
    ///     about the same part.
    ///   - severity: the severity, if it is lower than the rule's.
    ///   - fixes: the suggestions in the order in which they are tried, then advice.
    mutating func add(
        at path: [PolicyMistake.Step], as details: [String] = [], severity: LintFinding.Severity? = nil,
        _ message: String, fixes: LintFix?...
    ) {
        guard !draft.isBroken(path) else { return }
        let place = ([draft.place(of: path)] + details).joined(separator: "/")
        append(place, draft.position(of: path), severity, message, fixes)
    }

    /// Adds a finding about a row in the release list.
    mutating func add(
        at listed: ListedRelease, severity: LintFinding.Severity? = nil, on platform: LintPlatform, _ message: String,
        fixes: LintFix?...
    ) {
        append(platform.place(of: listed.release), listed.position, severity, message, fixes)
    }

    private mutating func append(
        _ place: String, _ position: SourcePosition, _ severity: LintFinding.Severity?, _ message: String,
        _ fixes: [LintFix?]
    ) {
        let finding = LintFinding(
            code: rule.code, severity: severity ?? rule.severity, place: place, position: position, message: message,
            isMistake: false)
        findings.append((finding, fixes.compactMap { $0 }))
    }
}

extension PolicyDraft {
    /// Returns a path as text, with names instead of the indexes of eras, products and honors:
    /// `eras/freemium/begins/iOS`.
    func place(of path: [PolicyMistake.Step]) -> String {
        path.enumerated().map { depth, step in
            switch step {
            case .key(let key): return key
            case .index(let index):
                if depth == 1, path[0] == "eras", eras.indices.contains(index) { return eras[index].name }
                guard depth == 3, path[0] == "entitlements", case .key(let name) = path[1],
                    let entitlement = entitlement(named: name)
                else { return String(index) }
                if path[2] == "products", entitlement.products.indices.contains(index) {
                    return entitlement.products[index].id
                }
                guard path[2] == "honors", let honors = entitlement.honors, honors.indices.contains(index) else {
                    return String(index)
                }
                let isOnly = honors.count { $0.era == honors[index].era } == 1
                return isOnly ? honors[index].era : "\(honors[index].era) \(index + 1)"
            }
        }.joined(separator: "/")
    }
}

/// What to do about a finding: edits of the policy file, or advice if the linter can't know the edits.
struct LintFix: Sendable {
    /// What to do, for the developer.
    let text: String
    /// The edits that the text describes; empty for advice.
    let edits: [PolicyEdit]

    /// Returns a suggestion with edits. The suggestion is shown only if, after these edits, the linter reports neither
    /// this finding nor a new one.
    static func suggestion(_ text: String, _ edits: PolicyEdit...) -> LintFix { LintFix(text: text, edits: edits) }
}

extension LintFix: ExpressibleByStringInterpolation {
    /// Creates advice without edits.
    init(stringLiteral text: String) { self.init(text: text, edits: []) }
}
