/// Why a receipt's bytes cannot be read, before anything is known of who signed them.
enum ReceiptFault: Error, Hashable {
    case malformed(String)
    case unsupportedAlgorithm(String)
}

extension Rejection {
    init(_ fault: ReceiptFault) {
        switch fault {
        case .malformed(let reason): self.init(.malformed, "the receipt is malformed: \(reason)")
        case .unsupportedAlgorithm(let reason): self.init(.unsupportedAlgorithm, reason)
        }
    }
}
