import TenurePolicyLint

extension LintFinding {
    /// Whether the finding prevents the publication of the policy.
    var blocksPublication: Bool { severity == .error && !isAcknowledged }

    /// Whether the finding is about rights that existing customers lose. A request to publish acknowledges the loss
    /// with the fields `rehearsal` and `takeFrom`, the number of customers who may lose something.
    var isLossOfRights: Bool { ["right-lost", "right-shortened"].contains(code) }
}
