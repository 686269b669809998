public import Foundation

/// The facts about a certificate, for output such as the output of `tenure inspect`.
public struct CertificateSummary: Sendable, Hashable {
    /// The subject's distinguished name as in RFC 4514, such as `CN=Apple Root CA - G3,OU=…`.
    public let subject: String
    /// The issuer's distinguished name as in RFC 4514.
    public let issuer: String
    /// The serial number in upper-case hexadecimal, without leading zero bytes.
    public let serialNumber: String
    /// The beginning of the validity, inclusive.
    public let notBefore: Date
    /// The end of the validity, inclusive.
    public let notAfter: Date
    /// The SHA-256 digest of the DER bytes, in upper-case hexadecimal.
    public let fingerprint: String
}
