import TenurePolicyLint

extension LintFinding {
    /// Whether a policy with this finding isn't published.
    var blocksPublication: Bool { severity == .error && !isAcknowledged }

    /// Whether the finding is about rights that existing customers lose. A publication acknowledges it with `rehearsal`
    /// and `takeFrom`, the number of customers who may lose something.
    var isLossOfRights: Bool { ["right-lost", "right-shortened"].contains(code) }
}
