/// A receipt that was only taken apart: for showing to a person what it claims. It proves nothing.
public struct UnverifiedReceipt: Sendable, Hashable {
    public let payload: ReceiptPayload
    /// The certificates that it carries, as far as they can be read; none of them is checked.
    public let certificates: [CertificateSummary]

    /// Reads BER or DER. Throws `malformed`, `unsupportedAlgorithm` or `tooLarge`.
    public init(_ bytes: [UInt8]) throws(Rejection) {
        guard bytes.count <= ReceiptEncoding.maximumSize else {
            throw Rejection(.tooLarge, "a receipt has at most \(ReceiptEncoding.maximumSize) bytes")
        }
        do {
            let signedData = try SignedData(bytes)
            payload = try ReceiptPayloadParser.parse(signedData.content, of: signedData.reader)
            // What cannot be read is not shown; the verdict says what is wrong with it.
            certificates = signedData.certificates.compactMap { try? ParsedCertificate(der: signedData.bytes(of: $0)).summary }
        } catch {
            throw Rejection(error)
        }
    }
}
