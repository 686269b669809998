package import Crypto
package import CryptoExtras
import Foundation
import X509

/// A verified chain of certificates that leads to a trusted certificate. Only the functions in this file create a
/// chain.
///
/// The validity period isn't part of the verification: call `checkValidity(at:)` with the artifact's signing date.
/// `TrustedChain` is a class, because many threads share the same chain.
package final class TrustedChain: Sendable {
    /// The key that verifies the artifact's signature.
    package enum Key: Sendable {
        case p256(P256.Signing.PublicKey)
        case rsa(_RSA.Signing.PublicKey)
    }

    /// The signer's public key.
    package let key: Key
    /// The start of the period in which all certificates, including the root, were valid. If their periods don't
    /// overlap, `notBefore` is later than `notAfter`.
    let notBefore: Date
    /// The end of the period in which all certificates were valid.
    let notAfter: Date
    /// The certificates, the signer's first. A local chain has one certificate, any other chain has three.
    let certificates: [CertificateSummary]
    /// The DER bytes of the trusted certificate to which the chain leads: a root, or Xcode's certificate.
    let anchor: [UInt8]
    /// Whether the artifact is signed directly with a configured certificate, as Xcode does.
    let isLocal: Bool

    fileprivate init(key: Key, certificates: [ParsedCertificate], isLocal: Bool) {
        self.key = key
        notBefore = certificates.map(\.x509.notValidBefore).max() ?? .distantFuture
        notAfter = certificates.map(\.x509.notValidAfter).min() ?? .distantPast
        self.certificates = certificates.map(\.summary)
        anchor = certificates.last?.der ?? []
        self.isLocal = isLocal
    }

    /// Whether all certificates were valid at this instant.
    func isValid(at instant: Date) -> Bool { notBefore <= instant && instant <= notAfter }

    /// Throws `outsideValidityPeriod` unless all certificates were valid at `instant`.
    func checkValidity(at instant: Date) throws(Rejection) {
        guard !isValid(at: instant) else { return }
        let invalidCertificate = certificates.first { instant < $0.notBefore || instant > $0.notAfter }
        let (from, until) = (invalidCertificate?.notBefore ?? notBefore, invalidCertificate?.notAfter ?? notAfter)
        throw Rejection(
            .outsideValidityPeriod,
            """
            the certificate `\(invalidCertificate?.subject ?? "")` is valid from \(from.formatted(.iso8601)) \
            until \(until.formatted(.iso8601)), and the artifact was signed at \(instant.formatted(.iso8601))
            """)
    }
}

/// A function that is called before each check of a certificate's signature. It throws `tooManyUnknownSigners` if too
/// many checks failed in a short time (`ChainCache.Budget`).
typealias BudgetUse = () throws(Rejection) -> Void

/// Builds and checks a chain of exactly three certificates, as Apple uses it: the signer's (`leaf`), an intermediate
/// and a trusted root (`anchor`). The caller has checked that `anchor` signed the intermediate. Doesn't check validity
/// periods.
///
/// Throws `malformed`, `untrustedChain`, `wrongPurpose` or `unsupportedAlgorithm`, and every error of `useBudget`.
func trustedChain(
    leaf: ParsedCertificate, intermediate: ParsedCertificate, anchor: ParsedCertificate, purpose: ChainPurpose,
    useBudget: BudgetUse = {}
) throws(Rejection) -> TrustedChain {
    try leaf.checkIsSigned(by: intermediate, purpose: purpose, useBudget: useBudget)
    try leaf.checkIsSigner(intermediate: intermediate)
    let key = try leaf.signingKey(for: purpose)
    return TrustedChain(key: key, certificates: [leaf, intermediate, anchor], isLocal: false)
}

/// Returns the chain of the single certificate with which Xcode signs. The certificate must be in `anchors`, byte for
/// byte.
///
/// Throws `untrustedChain` or `unsupportedAlgorithm`.
func locallyTrusted(
    certificate: [UInt8], anchors: TrustAnchors, purpose: ChainPurpose
) throws(Rejection) -> TrustedChain {
    guard let anchor = anchors.certificates.first(where: { $0.der == certificate }) else {
        throw Rejection(
            .untrustedChain, "the artifact's certificate isn't configured as a certificate of Xcode",
            missingTrust: .xcode)
    }
    return TrustedChain(key: try anchor.signingKey(for: purpose), certificates: [anchor], isLocal: true)
}

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
