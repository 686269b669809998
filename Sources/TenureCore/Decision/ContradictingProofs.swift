import Foundation

extension Evidence {
    /// Whether the version and the date of an acquisition prove different eras.
    ///
    /// A decision reports a contradiction only if the era decides it. This also finds contradictions of customers who
    /// bought a product, and under policies that honor no era.
    package func hasContradictingProofs(under policy: Policy) -> Bool {
        guard environment.isProduction else { return false }
        // Proofs don't depend on the current time, so any date works.
        return acquisitions.contains {
            EraSource($0, under: policy, at: .distantPast).possible.contradiction != nil
        }
    }
}
