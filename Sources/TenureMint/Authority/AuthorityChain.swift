import SwiftASN1
package import TenureAppStore
import X509

/// A chain of root, intermediate and signer, like Apple's, or with one defect.
package struct AuthorityChain: Sendable {
    package let root: IssuedCertificate
    package let intermediate: IssuedCertificate
    package let leaf: IssuedCertificate

    /// The signer comes first, as in `x5c` and in a receipt.
    var certificates: [[UInt8]] { [leaf.der, intermediate.der, root.der] }
}

/// The defects of a chain. The root is the authority's own, unless the defect is in the root.
package enum ChainDefect: String, CaseIterable, Sendable, Hashable {
    case missingLeafMarker, missingIntermediateMarker, swappedMarkers, criticalMarker
    case unknownCriticalExtension
    /// Another root with the same name.
    case namesakeRoot
    case leafExpiredAtSigning, intermediateExpiredAtSigning, rootExpiredAtSigning
    case intermediateNotAuthority
    /// The authority's signer, used as an issuer.
    case leafAsIntermediate
    /// The signer is itself an authority.
    case leafIsAuthority
    /// The signer has a key of another algorithm: P-384 instead of P-256, or P-256 instead of RSA.
    case foreignKey
    /// The signer has expired since, but was valid at the signing date. This isn't a defect.
    case leafExpiredSince

    /// The code with which a verifier rejects the chain. Nil if it accepts it.
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
