import Foundation
import TenureCore
import TenureJSON

/// The certificates that the operator trusts: roots, or the certificates with which a developer's Xcode signs. Never
/// empty.
public struct TrustAnchors: Sendable {
    package let certificates: [ParsedCertificate]

    /// Apple's three roots. Today, chains of JWS lead to the root "Apple Root CA - G3", and chains of receipts to
    /// "Apple Root CA". Apple recommends accepting all three.
    public static let apple = TrustAnchors(unique: AppleRoots.certificates)

    /// Reads the contents of a file: one certificate in DER, or any number in PEM.
    ///
    /// Throws `misconfigured` if there is no certificate, or if a certificate is unreadable.
    public init(_ contents: [UInt8]) throws(Rejection) {
        // A certificate in DER is a SEQUENCE. PEM is text.
        let isDER = contents.first == BERTag.sequence
        try self.init(der: isDER ? [contents] : Self.certificates(inPEM: String(decoding: contents, as: UTF8.self)))
    }

    /// Reads one or more certificates in DER.
    ///
    /// Throws `misconfigured` if there is no certificate, or if a certificate is unreadable.
    public init(der certificates: [[UInt8]]) throws(Rejection) {
        guard !certificates.isEmpty else {
            throw Rejection(
                .misconfigured, "the list of trusted certificates is empty; pass at least one root certificate")
        }
        let parsed: [ParsedCertificate]
        do throws(Rejection) {
            parsed = try certificates.map { (der) throws(Rejection) in try ParsedCertificate(der: der) }
        } catch {
            throw Rejection(.misconfigured, "a trusted certificate is invalid: \(error.detail)")
        }
        self.init(unique: parsed)
    }

    /// Keeps one copy of each certificate.
    private init(unique certificates: [ParsedCertificate]) {
        var seen: Set<[UInt8]> = []
        self.certificates = certificates.filter { seen.insert($0.der).inserted }
    }

    /// Returns the certificates of both lists of anchors, without duplicates.
    public func union(_ other: TrustAnchors) -> TrustAnchors { TrustAnchors(unique: certificates + other.certificates) }

    /// The subject, the issuer, the validity and other facts of each anchor, to show the anchors.
    public var summaries: [CertificateSummary] { certificates.map(\.summary) }

    /// Whether the root of `chain` is one of these certificates.
    func contains(anchorOf chain: TrustedChain) -> Bool { certificates.contains { $0.der == chain.anchor } }

    /// Decodes all certificates in a PEM text. Text outside the certificates is ignored.
    private static func certificates(inPEM text: String) throws(Rejection) -> [[UInt8]] {
        let begin = "-----BEGIN CERTIFICATE-----"
        let end = "-----END CERTIFICATE-----"
        var certificates: [[UInt8]] = []
        var rest = Substring(text)
        while let opening = rest.range(of: begin) {
            rest = rest[opening.upperBound...]
            guard let closing = rest.range(of: end) else {
                throw Rejection(.misconfigured, "the PEM text ends inside a certificate; export the certificate again")
            }
            let base64 = rest[..<closing.lowerBound].utf8.filter { !$0.isASCIIWhitespace }
            guard let der = Base64.standard.decode(base64[...]) else {
                throw Rejection(
                    .misconfigured, "a certificate in the PEM text isn't valid Base64; export the certificate again")
            }
            certificates.append(der)
            rest = rest[closing.upperBound...]
        }
        return certificates
    }
}
