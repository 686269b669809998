import TenurePolicyLint

extension LintFinding {
    /// Whether a policy with it isn't published.
    ///
    /// What existing customers would lose isn't left to the linter here: the rehearsal counts them, and a publication names
    /// their number.
    var blocksPublication: Bool {
        severity == .error && !Self.counted.contains(code)
    }

    private static let counted: Set<String> = ["right-lost", "right-shortened"]
}
