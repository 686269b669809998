import Crypto
import CryptoExtras
package import SwiftASN1
import X509

/// The kind of artifact that a chain may sign. Apple uses different keys and algorithms for JWS and for receipts.
package enum ChainPurpose: Sendable, Hashable {
    case jws, receipt

    /// Whether a certificate in the chain may be signed with this algorithm. SHA-1 is accepted for receipts: Apple used
    /// SHA-1 until 2025, and a receipt keeps its signature until it is refreshed.
    func allows(_ algorithm: Certificate.SignatureAlgorithm) -> Bool {
        switch algorithm {
        case .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512,
            .sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption:
            true
        case .sha1WithRSAEncryption: self == .receipt
        default: false
        }
    }
}

extension ParsedCertificate {
    /// Returns the signer's key: P-256 for JWS (`ES256`), RSA for receipts.
    func signingKey(for purpose: ChainPurpose) throws(Rejection) -> TrustedChain.Key {
        switch purpose {
        case .jws:
            guard let key = P256.Signing.PublicKey(x509.publicKey) else {
                throw Rejection(.unsupportedAlgorithm, "a JWS is signed with a P-256 key, not with another kind of key")
            }
            return .p256(key)
        case .receipt:
            guard let key = _RSA.Signing.PublicKey(x509.publicKey) else {
                throw Rejection(
                    .unsupportedAlgorithm, "a receipt is signed with an RSA key, not with another kind of key")
            }
            return .rsa(key)
        }
    }
}

/// The non-critical extensions with which Apple marks the purpose of a certificate. The value of such an extension is
/// ignored: it is NULL in genuine certificates, and an empty string in Apple's fixtures.
package enum AppleMarker {
    /// Marks certificates that sign App Store data: receipts and JWS.
    package static let receiptSigner: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// Marks the intermediates of Apple Worldwide Developer Relations, which issue the signers' certificates.
    package static let developerRelations: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
}
