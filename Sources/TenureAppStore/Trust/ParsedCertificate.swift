import Crypto
public import Foundation
import SwiftASN1
import TenureJSON
package import X509

/// A certificate that was parsed but not verified.
package struct ParsedCertificate: Sendable {
    /// The encoded certificate.
    package let der: [UInt8]
    /// The same certificate, decoded.
    package let x509: Certificate
    // The encoded names of the issuer and the subject. Their bytes are compared when a chain is built.
    package let issuer: [UInt8]
    let subject: [UInt8]
    /// The contents octets of the serial number.
    package let serialNumber: [UInt8]

    /// Parses one X.509 certificate. Throws `tooLarge`, or `malformed` if the bytes aren't exactly one certificate.
    package init(der: [UInt8]) throws(Rejection) {
        // Genuine certificates have at most 2 KB.
        guard der.count <= 16 * 1024 else {
            throw Rejection(.tooLarge, "a certificate has \(der.count) bytes, which is more than any genuine one has")
        }
        let algorithms: (signed: [UInt8], unsigned: [UInt8])
        do {
            x509 = try Certificate(derEncoded: der)
            let fields = try Self.fields(ofTBS: x509.tbsCertificateBytes)
            (serialNumber, issuer, subject) = (fields.serialNumber, fields.issuer, fields.subject)
            algorithms = (fields.signatureAlgorithm, try Self.signatureAlgorithm(of: der))
        } catch {
            throw Rejection(.malformed, "a certificate can't be read: \(Self.reason(of: error))")
        }
        // The certificate names the algorithm inside and outside of its signed part, which must be equal (RFC 5280,
        // section 4.1.1.2).
        guard algorithms.signed == algorithms.unsigned
        else { throw Rejection(.malformed, "a certificate names two different algorithms for its signature") }
        self.der = der
    }

    /// Returns a short reason for a message.
    private static func reason(of error: any Error) -> String {
        switch error {
        case is ASN1Error: "its ASN.1 is damaged"
        case let error as CertificateError where error.code == .unsupportedPublicKeyAlgorithm:
            "the algorithm of its key isn't supported"
        case let error as CertificateError where error.code == .unsupportedSignatureAlgorithm:
            "the algorithm of its signature isn't supported"
        case is CertificateError: "its content is invalid"
        default: "the certificate's key is invalid"
        }
    }

    /// Returns four fields of a TBSCertificate, the signed part of a certificate. RFC 5280, section 4.1: version [0],
    /// serialNumber, signature, issuer, validity, subject, …
    private static func fields(
        ofTBS bytes: ArraySlice<UInt8>
    ) throws -> (serialNumber: [UInt8], signatureAlgorithm: [UInt8], issuer: [UInt8], subject: [UInt8]) {
        try DER.sequence(DER.parse(bytes), identifier: .sequence) { nodes in
            let missing = ASN1Error.invalidASN1Object(reason: "fields are missing")
            guard var node = nodes.next() else { throw missing }
            // Skip the version, which certificates of version 1 lack.
            if node.identifier == ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific) {
                guard let next = nodes.next() else { throw missing }
                node = next
            }
            guard case .primitive(let serialNumber) = node.content,
                let algorithm = nodes.next(), let issuer = nodes.next(), nodes.next() != nil,
                let subject = nodes.next()
            else { throw missing }
            // `DER.sequence` throws if fields are left.
            while nodes.next() != nil {}
            return (
                Array(serialNumber), Array(algorithm.encodedBytes), Array(issuer.encodedBytes),
                Array(subject.encodedBytes)
            )
        }
    }

    /// Returns the signature algorithm outside the TBSCertificate, in DER.
    ///
    /// Throws if the signature has unused bits. Otherwise anyone could declare zero bits at the end of a signature
    /// unused, and so make another encoding of the same certificate.
    private static func signatureAlgorithm(of der: [UInt8]) throws -> [UInt8] {
        try DER.sequence(DER.parse(der), identifier: .sequence) { nodes in
            _ = nodes.next()
            guard let algorithm = nodes.next(), try ASN1BitString(derEncoded: &nodes).paddingBits == 0
            else { throw ASN1Error.invalidASN1Object(reason: "a signature ends within an octet") }
            return Array(algorithm.encodedBytes)
        }
    }

    /// The SHA-256 digest of the DER bytes.
    var fingerprint: [UInt8] { Array(SHA256.hash(data: der)) }

    var summary: CertificateSummary {
        CertificateSummary(
            subject: x509.subject.description, issuer: x509.issuer.description,
            serialNumber: serialNumber.drop { $0 == 0 }.hexadecimal.uppercased(), notBefore: x509.notValidBefore,
            notAfter: x509.notValidAfter, fingerprint: fingerprint.hexadecimal.uppercased())
    }
}

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
