import TenurePolicyFile

/// What to do about a finding: an edit, or advice if the linter can't know the edit.
struct LintFix: Sendable, ExpressibleByStringInterpolation {
    let text: String
    /// The edits that the text describes. Empty for advice.
    let edits: [PolicyEdit]

    /// Returns advice, which names nothing that could be written literally.
    init(stringLiteral text: String) {
        self.text = text
        edits = []
    }

    private init(_ text: String, _ edits: [PolicyEdit]) {
        self.text = text
        self.edits = edits
    }

    /// Returns a suggestion. It is shown only if the linter, after these edits, reports neither the finding nor a new
    /// one.
    static func suggestion(_ text: String, _ edits: PolicyEdit...) -> LintFix { LintFix(text, edits) }
}
