package import TenureAppStore
package import TenureMint

extension ChainDefect {
    /// The code with which a verifier rejects the chain; nil if the verifier accepts the chain.
    package var rejection: Rejection.Code? {
        switch self {
        case .missingLeafMarker, .missingIntermediateMarker, .swappedMarkers, .criticalMarker, .leafIsAuthority:
            .wrongPurpose
        case .unknownCriticalExtension, .namesakeRoot, .intermediateNotAuthority, .leafAsIntermediate: .untrustedChain
        case .leafExpiredAtSigning, .intermediateExpiredAtSigning, .rootExpiredAtSigning: .outsideValidityPeriod
        case .foreignKey: .unsupportedAlgorithm
        case .leafExpiredSince: nil
        }
    }
}
