import Foundation

extension Evidence {
    /// Whether the version and the date of some acquisition prove different eras, whichever reason decides.
    ///
    /// A decision names the contradiction only where the era is what decides; somebody who also bought a product, or
    /// for whom no entitlement honors an era, has the same contradicting proofs.
    package func hasContradictingProofs(under policy: Policy) -> Bool {
        guard environment.isProduction else { return false }
        // Proofs don't depend on the present.
        return acquisitions.contains {
            EraSource($0, under: policy, at: .distantPast).possible.contradiction != nil
        }
    }
}
