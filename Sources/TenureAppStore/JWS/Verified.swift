import Crypto
public import Foundation
public import TenureCore

/// A payload with a verified signature, signer, app and environment. Only a verifier makes one.
public struct Verified<Payload: Sendable & Hashable>: Sendable, Hashable {
    /// What was signed.
    public let payload: Payload
    /// The signed contents that the verifier accepts.
    public let environment: AppStoreEnvironment
    /// Whether an accepted App Store authority signed it, or only Xcode on a developer's machine.
    public let status: VerificationStatus
    /// Nil without a signing date; then the signer was valid at the verifier's `now`.
    public let signedDate: Date?
    /// The signer first; one certificate for Xcode's artifacts, otherwise three.
    public let certificates: [CertificateSummary]
    /// SHA-256 of the signed bytes, 32 bytes: for a JWS `header.payload`, for a receipt the content octets.
    /// It identifies artifacts. Their bytes don't: anyone can spell the unsigned rest in another way, such as an ECDSA
    /// signature (r, s) as (r, n - s).
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

/// What a verification proves.
public enum VerificationStatus: String, Sendable, Hashable, Codable {
    /// Signed by the App Store, or by an authority that the operator configured instead.
    case verified
    /// Signed by a certificate of a developer's Xcode that the operator configured: for development only.
    case local
}
