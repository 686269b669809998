import TenurePolicyFile

/// What to do about a finding: edits of the policy file, or advice if the linter can't know the edits.
struct LintFix: Sendable {
    /// What to do, for the developer.
    let text: String
    /// The edits that the text describes; empty for advice.
    let edits: [PolicyEdit]

    /// Returns a suggestion with edits. The suggestion is shown only if, after these edits, the linter reports neither
    /// this finding nor a new one.
    static func suggestion(_ text: String, _ edits: PolicyEdit...) -> LintFix {
        LintFix(text: text, edits: edits)
    }
}

extension LintFix: ExpressibleByStringInterpolation {
    /// Creates advice without edits.
    init(stringLiteral text: String) { self.init(text: text, edits: []) }
}
