import Crypto
public import Foundation
public import TenureCore

/// A payload with a verified signature, signer, app and environment. Only an `AppStoreVerifier` creates such a value.
public struct Verified<Payload: Sendable & Hashable>: Sendable, Hashable {
    /// The signed contents.
    public let payload: Payload
    /// The App Store environment in which the artifact was signed.
    public var environment: AppStoreEnvironment { signing.environment }
    /// Whether the App Store (or a configured substitute) signed the artifact, or only Xcode on a developer's machine.
    public var status: VerificationStatus { signing.status }
    /// When the artifact was signed; nil if it has no signing date. In that case, the certificates were valid at the
    /// `now` that was passed to the verifier.
    public let signedDate: Date?
    /// The certificates of the signer's chain, the signer's first: one for Xcode's artifacts, otherwise three.
    public var certificates: [CertificateSummary] { signing.certificates }
    /// The SHA-256 digest of the signed bytes: of `header.payload` in a JWS, of the content octets in a receipt.
    ///
    /// Use the digest to identify artifacts. The whole bytes don't identify an artifact, because anyone can change its
    /// unsigned parts without making it invalid: for example, an ECDSA signature (r, s) is also valid as (r, n - s).
    package var signedContentDigest: [UInt8] { Array(signing.digest) }

    /// The environment, the certificates and the digest.
    let signing: Signing

    init(
        payload: Payload, environment: AppStoreEnvironment, signedDate: Date?, chain: TrustedChain, digest: SHA256Digest
    ) {
        self.payload = payload
        self.signedDate = signedDate
        signing = Signing(
            environment: environment, status: chain.isLocal ? .local : .verified, certificates: chain.certificates,
            digest: digest)
    }
}

/// What a verified signature proves besides the payload.
struct Signing: Sendable, Hashable {
    let environment: AppStoreEnvironment
    let status: VerificationStatus
    /// The certificates of the chain, the signer's first.
    let certificates: [CertificateSummary]
    /// The digest of the signed bytes.
    let digest: SHA256Digest
}

/// The kind of signer that a verification has found.
public enum VerificationStatus: String, Sendable, Hashable, Codable {
    /// Signed by the App Store, or by an authority that the operator configured instead.
    case verified
    /// Signed by the certificate of a developer's Xcode, which the operator configured for development.
    case local
}
