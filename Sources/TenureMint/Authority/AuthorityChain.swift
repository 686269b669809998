import SwiftASN1
package import TenureAppStore
import X509

/// Root, intermediate and signer in Apple's shape, or with one defect.
package struct AuthorityChain: Sendable {
    package let root: IssuedCertificate
    package let intermediate: IssuedCertificate
    package let leaf: IssuedCertificate

    /// The signer comes first, as in `x5c` and in a receipt.
    var certificates: [[UInt8]] { [leaf.der, intermediate.der, root.der] }
}

/// What can be wrong with a chain. The root stays the authority's own unless the defect is in it.
package enum ChainDefect: String, CaseIterable, Sendable, Hashable {
    case missingLeafMarker, missingIntermediateMarker, swappedMarkers, criticalMarker
    case unknownCriticalExtension
    /// Another root of the same name.
    case namesakeRoot
    case leafExpiredAtSigning, intermediateExpiredAtSigning, rootExpiredAtSigning
    case intermediateNotAuthority
    /// The authority's signer, used as an issuer.
    case leafAsIntermediate
    /// The signer is itself an authority.
    case leafIsAuthority
    /// The signer has a key of another algorithm: P-384 instead of P-256, or P-256 instead of RSA.
    case foreignKey
    /// Expired now, but valid when it signed: that isn't a defect.
    case leafExpiredSince

    /// The verifier's verdict; nil if it accepts.
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
