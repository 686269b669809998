public import Foundation

/// The facts about a certificate, to show them.
public struct CertificateSummary: Sendable, Hashable {
    /// The subject's distinguished name as in RFC 4514, such as `CN=Apple Root CA - G3,OU=…`.
    public let subject: String
    /// The issuer's distinguished name as in RFC 4514.
    public let issuer: String
    /// Hexadecimal, upper case, without leading zeros.
    public let serialNumber: String
    /// The beginning of the validity, inclusive.
    public let notBefore: Date
    /// The end of the validity, inclusive.
    public let notAfter: Date
    /// SHA-256 of the DER bytes, hexadecimal, upper case.
    public let fingerprint: String
}
