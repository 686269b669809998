import TenurePolicyFile

/// What to do about a finding: something to write, or advice where the linter can't know what.
struct LintFix: Sendable, ExpressibleByStringInterpolation {
    let text: String
    /// What the text says to write. Empty for advice.
    let edits: [PolicyEdit]

    /// Advice, which names nothing that could be written as it stands.
    init(stringLiteral text: String) {
        self.text = text
        edits = []
    }

    private init(_ text: String, _ edits: [PolicyEdit]) {
        self.text = text
        self.edits = edits
    }

    /// A suggestion. It is shown only where the linter, after these edits, reports neither the finding nor a new one.
    static func suggestion(_ text: String, _ edits: PolicyEdit...) -> LintFix { LintFix(text, edits) }
}
