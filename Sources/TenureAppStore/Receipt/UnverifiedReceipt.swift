/// An app receipt as it was read, without regard to who signed it: to show people what was rejected, and why.
/// Nothing turns it into evidence.
public struct UnverifiedReceipt: Sendable, Hashable {
    public let payload: ReceiptPayload
    /// Those that can be read, the signer's first.
    public let certificates: [CertificateSummary]

    /// Throws `tooLarge`, `malformed` or `unsupportedAlgorithm`.
    public init(_ bytes: [UInt8]) throws(Rejection) {
        guard bytes.count <= ReceiptEncoding.maximumSize else {
            throw Rejection(.tooLarge, "a receipt has at most \(ReceiptEncoding.maximumSize) bytes")
        }
        do {
            let signedData = try SignedData(bytes)
            payload = try ReceiptPayloadParser.parse(signedData.content, of: signedData.reader)
            var summaries: [CertificateSummary] = []
            for (index, certificate) in signedData.certificates.enumerated() {
                guard let parsed = try? ParsedCertificate(der: signedData.bytes(of: certificate)) else { continue }
                summaries.insert(parsed.summary, at: index == signedData.signer ? 0 : summaries.count)
            }
            certificates = summaries
        } catch {
            throw Rejection(error)
        }
    }
}

extension UnverifiedReceipt {
    /// The bytes that the signature of a receipt is over; nil where it cannot be taken apart.
    public static func content(of receipt: [UInt8]) -> [UInt8]? {
        guard let signedData = try? SignedData(receipt) else { return nil }
        return Array(signedData.reader.bytes[signedData.content])
    }
}

extension ReceiptPayload {
    /// Reads the content of a receipt that nothing vouches for, to show or to test it.
    ///
    /// Throws `malformed`.
    public init(unverifiedContent content: [UInt8]) throws(Rejection) {
        do {
            self = try ReceiptPayloadParser.parse(content.indices, of: BERReader(content))
        } catch {
            throw Rejection(error)
        }
    }
}
