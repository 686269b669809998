package import Crypto
package import CryptoExtras
package import Foundation
import X509

/// A chain of certificates that leads to a configured anchor. Only the validator in this folder makes one.
/// It is independent of time: an artifact calls `isValid(at:)` with its signing date. It is a reference, because all
/// cores count the owners of a chain that signed everything.
package final class TrustedChain: Sendable {
    /// The key that verifies the artifact's signature.
    package enum Key: Sendable {
        case p256(P256.Signing.PublicKey)
        case rsa(_RSA.Signing.PublicKey)
    }

    package let key: Key
    /// The period in which all certificates were valid, including the root. Empty if their periods don't overlap: then
    /// `notBefore` is later than `notAfter`.
    let notBefore: Date
    let notAfter: Date
    /// The signer first; one for a local chain, otherwise three.
    let certificates: [CertificateSummary]
    /// The DER bytes of its anchor.
    let anchor: [UInt8]
    /// Signed directly by a configured certificate, as Xcode does.
    let isLocal: Bool

    fileprivate init(key: Key, certificates: [ParsedCertificate], isLocal: Bool) {
        self.key = key
        notBefore = certificates.map(\.x509.notValidBefore).max() ?? .distantFuture
        notAfter = certificates.map(\.x509.notValidAfter).min() ?? .distantPast
        self.certificates = certificates.map(\.summary)
        anchor = certificates.last?.der ?? []
        self.isLocal = isLocal
    }

    package func isValid(at instant: Date) -> Bool {
        notBefore <= instant && instant <= notAfter
    }

    /// Throws `outsideValidityPeriod` unless all certificates were valid at `instant`.
    package func checkValidity(at instant: Date) throws(Rejection) {
        guard !isValid(at: instant) else { return }
        let invalidCertificate = certificates.first { instant < $0.notBefore || instant > $0.notAfter }
        let (from, until) = (invalidCertificate?.notBefore ?? notBefore, invalidCertificate?.notAfter ?? notAfter)
        throw Rejection(
            .outsideValidityPeriod,
            """
            the certificate `\(invalidCertificate?.subject ?? "")` is valid from \(from.formatted(.iso8601)) \
            until \(until.formatted(.iso8601)), and the artifact was signed at \(instant.formatted(.iso8601))
            """
        )
    }
}

/// Builds and checks exactly Apple's shape: signer, intermediate, pinned root.
/// Throws `malformed`, `untrustedChain`, `wrongPurpose` or `unsupportedAlgorithm`. Doesn't check the time.
func trustedChain(
    leaf: [UInt8],
    intermediate: [UInt8],
    anchors: TrustAnchors,
    purpose: ChainPurpose
) throws(Rejection) -> TrustedChain {
    let leaf = try ParsedCertificate(der: leaf)
    let authority = try ParsedCertificate(der: intermediate)
    let anchor = try authority.anchor(among: anchors, purpose: purpose)
    return try trustedChain(leaf: leaf, intermediate: authority, anchor: anchor, purpose: purpose)
}

/// The second half of the work: `intermediate` is known to be signed by `anchor`.
func trustedChain(
    leaf: ParsedCertificate,
    intermediate: ParsedCertificate,
    anchor: ParsedCertificate,
    purpose: ChainPurpose,
    charging: SignatureCharge = {}
) throws(Rejection) -> TrustedChain {
    try leaf.checkIsSigned(by: intermediate, purpose: purpose, charging: charging)
    try leaf.checkIsSigner(intermediate: intermediate)
    let key = try leaf.signingKey(for: purpose)
    return TrustedChain(key: key, certificates: [leaf, intermediate, anchor], isLocal: false)
}

/// A chain of the one certificate with which Xcode signs. It must be, byte by byte, a configured one.
///
/// Throws `untrustedChain` or `unsupportedAlgorithm`.
func locallyTrusted(
    certificate: [UInt8],
    anchors: TrustAnchors,
    purpose: ChainPurpose
) throws(Rejection) -> TrustedChain {
    guard let anchor = anchors.certificates.first(where: { $0.der == certificate }) else {
        throw Rejection(.untrustedChain, "its certificate is not one of those configured for Xcode")
    }
    return TrustedChain(key: try anchor.signingKey(for: purpose), certificates: [anchor], isLocal: true)
}
