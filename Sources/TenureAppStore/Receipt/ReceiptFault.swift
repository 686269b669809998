/// Why a receipt's bytes cannot be read, before anything is known of who signed them.
enum ReceiptFault: Error, Hashable {
    case malformed(String)
    case unsupportedAlgorithm(String)
}
