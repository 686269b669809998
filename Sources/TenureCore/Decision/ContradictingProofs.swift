extension Evidence {
    /// Whether the version and the date of some acquisition prove different eras, whichever reason decides.
    ///
    /// A decision names the contradiction only where the era is what decides; somebody who also bought a product, or
    /// for whom no entitlement honors an era, has the same contradicting proofs.
    package func hasContradictingProofs(under policy: Policy) -> Bool {
        guard environment.isProduction else { return false }
        return acquisitions.enumerated().contains { index, acquisition in
            PossibleEras(of: acquisition, index: index, under: policy).findings.contains(where: \.isContradiction)
        }
    }
}

extension Finding {
    fileprivate var isContradiction: Bool {
        switch self {
        case .contradiction, .dateBeforeVersion, .versionAuthoritative: true
        default: false
        }
    }
}
