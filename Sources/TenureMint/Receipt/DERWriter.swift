/// Writes the ASN.1 of a receipt, in DER unless a function says otherwise.
enum DERWriter {
    /// Writes an element: its tag, its length and its contents.
    static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] { [tag] + length(contents.count) + contents }

    /// Writes a BER element of indefinite length, which ends with end-of-contents octets.
    static func indefinite(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] { [tag, 0x80] + contents + [0, 0] }

    /// Writes an INTEGER that isn't negative.
    static func integer(_ value: UInt64) -> [UInt8] {
        var bytes = bigEndian(value)
        // Add a zero byte if the first bit is 1, because the number would otherwise be negative.
        if bytes[0] >= 0x80 { bytes.insert(0, at: 0) }
        return element(0x02, bytes)
    }

    static func octetString(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }
    static func utf8String(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    static func ia5String(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }
    static func sequence(_ elements: [UInt8]...) -> [UInt8] { element(0x30, elements.flatMap { $0 }) }
    static func set(_ elements: [[UInt8]]) -> [UInt8] { element(0x31, elements.flatMap { $0 }) }
    static func objectIdentifier(_ contents: [UInt8]) -> [UInt8] { element(0x06, contents) }
    static let null: [UInt8] = [0x05, 0x00]

    /// Sorts the elements of a SET OF as DER requires (X.690, section 11.6).
    static func sorted(_ elements: [[UInt8]]) -> [[UInt8]] { elements.sorted { $0.lexicographicallyPrecedes($1) } }

    /// Returns the bytes of a number, the most significant byte first. At least one byte, and otherwise no leading
    /// zeros.
    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        let bytes = withUnsafeBytes(of: value.bigEndian) { Array($0.drop { $0 == 0 }) }
        return bytes.isEmpty ? [0] : bytes
    }

    /// Writes a definite length in as few bytes as possible.
    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(truncatingIfNeeded: count)] }
        let bytes = bigEndian(UInt64(count))
        return [0x80 | UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}
