/// The numbers in access tokens and download links: eight bytes each, the highest first.
extension [UInt8] {
    /// Appends the eight bytes of a number.
    mutating func append(bigEndian number: Int64) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    /// Returns the number in the eight bytes that begin at this offset.
    func number(at offset: Int) -> Int64 {
        Int64(bitPattern: self[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) })
    }
}
