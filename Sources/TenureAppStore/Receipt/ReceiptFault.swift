/// Why a receipt's bytes can't be read, before its signer is known.
enum ReceiptFault: Error, Hashable {
    case malformed(String)
    case unsupportedAlgorithm(String)
}

extension Rejection {
    init(_ fault: ReceiptFault) {
        switch fault {
        case .malformed(let reason): self.init(.malformed, "the receipt can't be read: \(reason)")
        case .unsupportedAlgorithm(let reason): self.init(.unsupportedAlgorithm, reason)
        }
    }
}
