import Crypto
import CryptoExtras
package import Foundation
package import TenureAppStore
import X509

/// A test authority, which signs artifacts like the App Store, with its own roots. Only verifiers that trust these
/// roots accept the artifacts.
///
/// Its keys are random and stored in a folder. Tenure contains no private keys.
package struct TestAuthority: Sendable {
    /// The chain for JWS, with keys of P-384, P-384 and P-256.
    package let jws: AuthorityChain
    /// The chain for receipts, with RSA keys of 2048 bits.
    package let receipts: AuthorityChain
    /// The self-signed P-256 certificate for JWS, like Xcode's.
    package let xcodeJWS: IssuedCertificate
    /// The self-signed RSA certificate for receipts, like Xcode's.
    let xcodeReceipts: IssuedCertificate
}

extension TestAuthority {
    /// Creates an authority with random keys.
    ///
    /// - Parameter other: an authority from which to take the keys and certificates for receipts, because generating
    ///   RSA keys takes long. Nil to create new ones.
    package init(receiptsOf other: TestAuthority? = nil) throws {
        func p384() -> AuthorityKey { .p384(P384.Signing.PrivateKey()) }
        func rsa() throws -> AuthorityKey { .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048)) }
        jws = try AuthorityChain(
            for: .jws, rootKey: p384(), intermediateKey: p384(), leafKey: .p256(P256.Signing.PrivateKey()))
        if let other {
            receipts = other.receipts
            xcodeReceipts = other.xcodeReceipts
        } else {
            receipts = try AuthorityChain(for: .receipt, rootKey: rsa(), intermediateKey: rsa(), leafKey: rsa())
            xcodeReceipts = try AuthorityRole.xcode.recipe(for: .receipt).issue(for: rsa(), by: nil)
        }
        xcodeJWS = try AuthorityRole.xcode.recipe(for: .jws).issue(for: .p256(P256.Signing.PrivateKey()), by: nil)
    }

    /// The anchors for production and sandbox artifacts: both roots.
    package var anchors: TrustAnchors {
        get throws(Rejection) { try TrustAnchors(der: [jws.root.der, receipts.root.der]) }
    }

    /// The anchors for Xcode's artifacts: both self-signed certificates.
    package var xcodeAnchors: TrustAnchors {
        get throws(Rejection) { try TrustAnchors(der: [xcodeJWS.der, xcodeReceipts.der]) }
    }

    /// Returns the chain for artifacts that are signed at `instant`. With a defect, a new chain is issued.
    package func chain(
        for purpose: ChainPurpose, defect: ChainDefect? = nil, signedAt instant: Date
    ) throws -> AuthorityChain {
        let valid = purpose == .jws ? jws : receipts
        guard let defect else { return valid }

        var rootRecipe = AuthorityRole.root.recipe(for: purpose)
        var intermediateRecipe = AuthorityRole.intermediate.recipe(for: purpose)
        var leafRecipe = AuthorityRole.leaf.recipe(for: purpose)
        var rootKey = valid.root.key
        var intermediate = valid.intermediate
        var leafKey = valid.leaf.key
        let year: TimeInterval = 366 * 86400
        switch defect {
        case .missingLeafMarker: leafRecipe.markers = []
        case .missingIntermediateMarker: intermediateRecipe.markers = []
        case .swappedMarkers: swap(&leafRecipe.markers, &intermediateRecipe.markers)
        case .criticalMarker: leafRecipe.markersAreCritical = true
        case .unknownCriticalExtension: leafRecipe.hasUnknownCriticalExtension = true
        case .namesakeRoot:
            // Generating an RSA key takes long, so use the existing RSA key of Xcode's certificate.
            rootKey = purpose == .jws ? .p384(P384.Signing.PrivateKey()) : xcodeReceipts.key
        case .leafExpiredAtSigning: leafRecipe.notAfter = instant.addingTimeInterval(-86400)
        case .intermediateExpiredAtSigning: intermediateRecipe.notAfter = instant.addingTimeInterval(-86400)
        case .rootExpiredAtSigning: rootRecipe.notAfter = instant.addingTimeInterval(-86400)
        case .leafExpiredSince:
            leafRecipe.notBefore = instant.addingTimeInterval(-year)
            leafRecipe.notAfter = instant.addingTimeInterval(60)
        case .intermediateNotAuthority: intermediateRecipe.basicConstraints = .notCertificateAuthority
        case .leafIsAuthority: leafRecipe.basicConstraints = .isCertificateAuthority(maxPathLength: 0)
        case .foreignKey:
            leafKey = purpose == .jws ? .p384(P384.Signing.PrivateKey()) : .p256(P256.Signing.PrivateKey())
        case .leafAsIntermediate: intermediate = valid.leaf
        }
        let hasNewRoot = defect == .namesakeRoot || defect == .rootExpiredAtSigning
        let root = hasNewRoot ? try rootRecipe.issue(for: rootKey, by: nil) : valid.root
        let intermediateDefects: [ChainDefect] = [
            .missingIntermediateMarker, .swappedMarkers, .intermediateExpiredAtSigning, .intermediateNotAuthority,
        ]
        if hasNewRoot || intermediateDefects.contains(defect) {
            intermediate = try intermediateRecipe.issue(for: valid.intermediate.key, by: root)
        }
        let leaf = try leafRecipe.issue(for: leafKey, by: intermediate)
        return AuthorityChain(root: root, intermediate: intermediate, leaf: leaf)
    }
}
