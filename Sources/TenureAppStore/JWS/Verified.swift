import Crypto
public import Foundation
public import TenureCore

/// A payload whose signature, signer, app and environment were checked. Only a verifier makes one.
public struct Verified<Payload: Sendable & Hashable>: Sendable, Hashable {
    public let payload: Payload
    /// What the signed bytes say, and the verifier accepts.
    public let environment: AppStoreEnvironment
    public let status: VerificationStatus
    /// Nil where the artifact does not say when it was signed; its signer was valid at the verifier's `now` then.
    public let signedDate: Date?
    /// Signer first; one for what Xcode signed, else three.
    public let certificates: [CertificateSummary]
    /// SHA-256 of what the signature covers, 32 bytes: of a JWS `header.payload`, of a receipt the content octets.
    ///
    /// Tells artifacts apart where their bytes do not: whoever holds one can spell the rest anew without its signer,
    /// such as an ECDSA signature (r, s) as (r, n - s).
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

/// How far a verification reaches.
public enum VerificationStatus: String, Sendable, Hashable, Codable {
    /// Signed by the App Store, or by an authority that the operator put in its place.
    case verified
    /// Signed by a certificate of a developer's Xcode that the operator named: for development only.
    case local
}
