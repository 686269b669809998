/// Why a receipt's bytes cannot be read, before anything is known of who signed them.
package enum ReceiptFault: Error, Hashable {
    case malformed(String)
    case unsupportedAlgorithm(String)
    /// The content is not the one that the signed attributes name.
    case contentDiffersFromSignedDigest
}
