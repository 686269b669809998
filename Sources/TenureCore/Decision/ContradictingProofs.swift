import Foundation

extension Evidence {
    /// Whether the version and the date of at least one acquisition of the app prove different eras. False if the date
    /// is in a changeover window, in which price and version may not match. A rehearsal (a dry run of a policy over real
    /// customers) counts the customers for whom this is true.
    ///
    /// The reasons of a decision omit the contradiction if a purchase, support or a promise alone decides the outcome,
    /// or if the entitlement has no `honors`. This function finds the contradiction in these cases, too.
    package func hasContradictingProofs(under policy: Policy) -> Bool {
        guard environment.isProduction else { return false }
        // The proofs don't depend on the current time, so any date can be passed.
        return acquisitions.contains { EraSource($0, under: policy, at: .distantPast).possible.contradiction != nil }
    }
}
