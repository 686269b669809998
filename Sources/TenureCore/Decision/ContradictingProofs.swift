import Foundation

extension Evidence {
    /// Whether the version and the date of at least one acquisition prove different eras, and no changeover window
    /// explains the difference. A rehearsal (a dry run of a policy over real customers) counts such customers.
    ///
    /// The reasons of a decision omit the contradiction if a purchase, support or a promise alone decides the outcome,
    /// or if the entitlement has no `honors`. This function finds the contradiction in these cases, too.
    package func hasContradictingProofs(under policy: Policy) -> Bool {
        guard environment.isProduction else { return false }
        // The proofs don't depend on the current time, so any date can be passed.
        return acquisitions.contains {
            EraSource($0, under: policy, at: .distantPast).possible.contradiction != nil
        }
    }
}
