import Crypto
import CryptoExtras
package import Foundation
import SwiftASN1
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

extension AuthorityChain {
    /// Issues a valid chain for these keys.
    fileprivate init(
        for purpose: ChainPurpose, rootKey: AuthorityKey, intermediateKey: AuthorityKey, leafKey: AuthorityKey
    ) throws {
        root = try AuthorityRole.root.recipe(for: purpose).issue(for: rootKey, by: nil)
        intermediate = try AuthorityRole.intermediate.recipe(for: purpose).issue(for: intermediateKey, by: root)
        leaf = try AuthorityRole.leaf.recipe(for: purpose).issue(for: leafKey, by: intermediate)
    }
}

/// The position of a certificate in a chain. The raw value is the last byte of the certificate's serial number.
package enum AuthorityRole: UInt8, Sendable {
    case root = 1
    case intermediate
    case leaf
    /// The single certificate with which Xcode signs.
    case xcode

    /// Returns the contents of a valid certificate for this position.
    package func recipe(for purpose: ChainPurpose) -> CertificateRecipe {
        // The certificate is valid from the year in which the App Store opened. UTCTime can express both dates: its
        // range ends with the year 2049.
        let opening = Date(timeIntervalSince1970: 1_199_145_600)  // 2008-01-01
        let closing = Date(timeIntervalSince1970: 2_493_072_000)  // 2049-01-01
        let suffix = purpose == .jws ? "JWS" : "receipts"
        var recipe = CertificateRecipe(
            commonName: "Tenure Test Root CA (\(suffix))", organization: "Tenure Test Authority", notBefore: opening,
            notAfter: closing, basicConstraints: .isCertificateAuthority(maxPathLength: nil), signsCertificates: true,
            serialNumber: [0x54, purpose == .jws ? 0x01 : 0x02, rawValue])
        switch self {
        case .root: break
        case .intermediate:
            recipe.commonName = "Tenure Test Developer Relations CA (\(suffix))"
            recipe.basicConstraints = .isCertificateAuthority(maxPathLength: 0)
            recipe.markers = [AppleMarker.developerRelations]
        case .leaf:
            recipe.commonName = "Tenure Test App Store Receipt Signing (\(suffix))"
            recipe.basicConstraints = .notCertificateAuthority
            recipe.signsCertificates = false
            recipe.markers = [AppleMarker.receiptSigner]
        case .xcode:
            recipe.commonName = purpose == .jws ? "StoreKit Testing in Xcode" : "StoreKit"
            recipe.organization = recipe.commonName
            recipe.basicConstraints = .isCertificateAuthority(maxPathLength: 0)
            recipe.signsCertificates = false
        }
        return recipe
    }
}

/// A chain of root, intermediate and signer, like Apple's, or with one `ChainDefect`.
package struct AuthorityChain: Sendable {
    /// The self-signed certificate that verifiers trust.
    package let root: IssuedCertificate
    /// The certificate that the root signed and that signed the leaf.
    package let intermediate: IssuedCertificate
    /// The signer's certificate.
    package let leaf: IssuedCertificate

    /// The certificates with their keys, the signer's first, as in a receipt.
    var issued: [IssuedCertificate] { [leaf, intermediate, root] }
    /// The certificates in DER, the signer's first, as in `x5c`.
    var certificates: [[UInt8]] { issued.map(\.der) }
}

/// The defects of a chain, and one unusual but valid variant (`leafExpiredSince`). The root is the test authority's
/// own, unless the defect is in the root.
///
/// The raw values are names for `tenure mint --defect`, except `rootExpiredAtSigning`: only a verifier that trusts the
/// expired root rejects that chain as expired.
package enum ChainDefect: String, CaseIterable, Sendable, Hashable {
    /// Apple's markers (`AppleMarker`): the leaf or the intermediate has no marker, the two markers are swapped, or the
    /// leaf's marker is a critical extension.
    case missingLeafMarker, missingIntermediateMarker, swappedMarkers, criticalMarker
    /// The leaf has a critical extension that verifiers don't know.
    case unknownCriticalExtension
    /// The root is another one with the same name and another key, which verifiers don't trust.
    case namesakeRoot
    /// One of the certificates had expired a day before the signing date.
    case leafExpiredAtSigning, intermediateExpiredAtSigning, rootExpiredAtSigning
    /// The intermediate's basic constraints say that it may not issue certificates.
    case intermediateNotAuthority
    /// The test authority's leaf, which may not issue certificates, is used as the intermediate.
    case leafAsIntermediate
    /// The leaf's basic constraints say that it may issue certificates.
    case leafIsAuthority
    /// The leaf has a key of another algorithm: in the chain for JWS, P-384 instead of P-256; in the chain for
    /// receipts, P-256 instead of RSA.
    case foreignKey
    /// The leaf was valid at the signing date, and expired a minute later. Verifiers accept this chain.
    case leafExpiredSince
}
