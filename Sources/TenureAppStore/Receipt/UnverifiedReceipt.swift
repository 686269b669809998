/// An app receipt that was parsed but not verified, to show it or to search for its IDs. Decisions use only verified
/// receipts.
public struct UnverifiedReceipt: Sendable, Hashable {
    /// The contents of the receipt. Their signature isn't verified.
    public let payload: ReceiptPayload
    /// The readable certificates, the signer's first. They aren't verified.
    public let certificates: [CertificateSummary]

    /// Parses a receipt in BER or DER.
    ///
    /// Throws `tooLarge`, `malformed` or `unsupportedAlgorithm`.
    public init(_ bytes: [UInt8]) throws(Rejection) {
        let signedData = try SignedData(bytes)
        payload = try ReceiptPayloadParser.parse(signedData.content, of: signedData.reader)
        var summaries: [CertificateSummary] = []
        for (index, certificate) in signedData.certificates.enumerated() {
            guard let parsed = try? ParsedCertificate(der: signedData.bytes(of: certificate)) else { continue }
            summaries.insert(parsed.summary, at: index == signedData.signer ? 0 : summaries.count)
        }
        certificates = summaries
    }

    /// Returns the signed content of a receipt; nil if the receipt is too large or can't be parsed.
    public static func content(of receipt: [UInt8]) -> [UInt8]? {
        (try? SignedData(receipt)).map { Array($0.contentOctets) }
    }
}

extension ReceiptPayload {
    /// Parses the content of a receipt without a signature, to show or to test it.
    ///
    /// Throws `malformed`.
    public init(unverifiedContent content: [UInt8]) throws(Rejection) {
        self = try ReceiptPayloadParser.parse(content.indices, of: BERReader(content))
    }
}
