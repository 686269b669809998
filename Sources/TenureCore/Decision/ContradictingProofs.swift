import Foundation

extension Evidence {
    /// Whether the version and the date of an acquisition prove different eras.
    ///
    /// A decision has a contradiction among its reasons only if the era decides the outcome. This function also finds
    /// contradictions of customers who bought a product, and under policies that honor no era.
    package func hasContradictingProofs(under policy: Policy) -> Bool {
        guard environment.isProduction else { return false }
        // The proofs don't depend on the current time, so any date can be passed.
        return acquisitions.contains {
            EraSource($0, under: policy, at: .distantPast).possible.contradiction != nil
        }
    }
}
