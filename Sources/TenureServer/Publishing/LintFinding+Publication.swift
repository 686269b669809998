import TenurePolicyLint

extension LintFinding {
    /// Whether a policy with this finding isn't published.
    var blocksPublication: Bool { severity == .error && !isAcknowledged }

    /// Whether the finding is about what existing customers lose. A publication that names the number of customers who
    /// lose something, after a rehearsal that found some, has acknowledged it.
    var isLossOfRights: Bool { ["right-lost", "right-shortened"].contains(code) }
}
