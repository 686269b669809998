import Crypto
public import Foundation
public import TenureCore

/// A payload with a verified signature, signer, app and environment. Only an `AppStoreVerifier` creates one.
public struct Verified<Payload: Sendable & Hashable>: Sendable, Hashable {
    /// The signed contents.
    public let payload: Payload
    /// The App Store environment in which the artifact was signed.
    public let environment: AppStoreEnvironment
    /// Whether an accepted App Store authority signed it, or only Xcode on a developer's machine.
    public let status: VerificationStatus
    /// When the artifact was signed. Nil if it has no signing date. In that case, the certificates were valid at the
    /// `now` that was passed to the verifier.
    public let signedDate: Date?
    /// The signer first; one certificate for Xcode's artifacts, otherwise three.
    public let certificates: [CertificateSummary]
    /// The SHA-256 digest of the signed bytes: of `header.payload` in a JWS, of the content octets in a receipt.
    ///
    /// Use it to identify artifacts. The whole bytes don't identify an artifact, because anyone can change the unsigned
    /// part without making the artifact invalid, such as an ECDSA signature (r, s) to (r, n - s).
    package var signedContentDigest: [UInt8] { Array(digest) }

    private let digest: SHA256Digest

    init(
        payload: Payload,
        environment: AppStoreEnvironment,
        signedDate: Date?,
        chain: TrustedChain,
        digest: SHA256Digest
    ) {
        self.payload = payload
        self.environment = environment
        self.signedDate = signedDate
        status = chain.isLocal ? .local : .verified
        certificates = chain.certificates
        self.digest = digest
    }
}

/// The kind of signer that a verification has found.
public enum VerificationStatus: String, Sendable, Hashable, Codable {
    /// Signed by the App Store, or by an authority that the operator configured instead.
    case verified
    /// Signed by the certificate of a developer's Xcode, which the operator configured for development.
    case local
}
