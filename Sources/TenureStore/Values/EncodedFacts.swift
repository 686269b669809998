/// Facts with their bytes in `FactsFormat`.
struct EncodedFacts: Sendable {
    let facts: CustomerFacts
    let bytes: [UInt8]

    /// - Parameter bytes: the encoding from which the facts were decoded; nil if they must be encoded.
    init(_ facts: CustomerFacts, bytes: [UInt8]? = nil) {
        self.facts = facts
        self.bytes = bytes ?? facts.encoded
    }

    /// Whether these are the bytes of the same facts. Comparing bytes is faster than decoding and comparing thousands
    /// of purchases.
    func hasSameBytes(as other: [UInt8]) -> Bool { bytes.hasSameBytes(as: other[...]) }
}
