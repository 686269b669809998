import Foundation

/// Facts with their encoded bytes.
struct EncodedFacts: Sendable {
    let facts: CustomerFacts
    let bytes: [UInt8]

    init(_ facts: CustomerFacts) {
        self.facts = facts
        bytes = facts.encoded
    }

    /// - Parameter bytes: the encoding from which the facts were decoded.
    init(_ facts: CustomerFacts, bytes: [UInt8]) {
        self.facts = facts
        self.bytes = bytes
    }

    /// Compares the encodings, which is faster than decoding and comparing thousands of purchases.
    func hasSameBytes(as other: [UInt8]) -> Bool {
        guard bytes.count == other.count else { return false }
        return bytes.withUnsafeBytes { ours in
            other.withUnsafeBytes { theirs in
                guard let ours = ours.baseAddress, let theirs = theirs.baseAddress else { return true }
                return memcmp(ours, theirs, bytes.count) == 0
            }
        }
    }
}
