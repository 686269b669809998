/// Canonical Base64 (RFC 4648): each sequence of bytes has exactly one valid encoding.
///
/// In the text of a 64-byte signature, the last digit has four unused bits. A lenient decoder ignores them, so it
/// accepts sixteen encodings of one signature, and the same artifact could have different texts.
package enum Base64 {
    /// Standard alphabet (`+`, `/`) with exact padding, for receipts and for the certificates (`x5c`) in a JWS.
    case standard
    /// URL-safe alphabet (`-`, `_`) without padding: the segments of a JWS.
    case urlSafe

    /// Decodes `text`; returns nil for a character outside the alphabet, wrong padding, or unused bits that aren't 0.
    package func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var digits = text
        if self == .standard {
            guard digits.count.isMultiple(of: 4) else { return nil }
            // Remove up to two padding characters.
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        let remainder = digits.count % 4
        // One digit has too few bits for a byte. In the standard alphabet, the padding completes the last four digits.
        guard remainder != 1, self == .urlSafe || (remainder + (text.count - digits.count)) % 4 == 0 else { return nil }
        let size = digits.count / 4 * 3 + (remainder == 0 ? 0 : remainder - 1)
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            // Safe: the buffers are read and written only within the sizes computed above.
            digits.withUnsafeBufferPointer { digits in
                isValid = withValues { Self.decode(digits, using: $0, into: output) }
            }
            count = isValid ? size : 0
        }
        return isValid ? bytes : nil
    }

    /// Calls `body` with the alphabet's table. A pointer to the table doesn't retain it: all threads share its
    /// reference count.
    @inline(__always) private func withValues(_ body: (UnsafeBufferPointer<UInt32>) -> Bool) -> Bool {
        switch self {
        case .standard: Self.standardValues.withUnsafeBufferPointer(body)
        case .urlSafe: Self.urlSafeValues.withUnsafeBufferPointer(body)
        }
    }

    /// Decodes four digits at a time, each with a table that has its bits already shifted. Returns false if a character
    /// is invalid or unused bits aren't 0.
    private static func decode(
        _ digits: UnsafeBufferPointer<UInt8>, using values: UnsafeBufferPointer<UInt32>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        // An invalid character sets the bit `invalid`, which no digit sets. All values are combined, so the bit is
        // checked only once.
        var combined: UInt32 = 0
        var index = 0
        var written = 0
        let whole = digits.count & ~3
        while index < whole {
            let bits =
                values[Int(digits[index])] | values[256 + Int(digits[index + 1])]
                | values[512 + Int(digits[index + 2])] | values[768 + Int(digits[index + 3])]
            combined |= bits
            output[written] = UInt8(truncatingIfNeeded: bits >> 16)
            output[written + 1] = UInt8(truncatingIfNeeded: bits >> 8)
            output[written + 2] = UInt8(truncatingIfNeeded: bits)
            index += 4
            written += 3
        }
        let lastDigits = digits.count - whole
        if lastDigits >= 2 {
            var bits = values[Int(digits[index])] | values[256 + Int(digits[index + 1])]
            if lastDigits == 3 { bits |= values[512 + Int(digits[index + 2])] }
            combined |= bits
            // Unused bits of the last digit must be 0.
            guard bits & (lastDigits == 2 ? 0xFFFF : 0xFF) == 0 else { return false }
            output[written] = UInt8(truncatingIfNeeded: bits >> 16)
            if lastDigits == 3 { output[written + 1] = UInt8(truncatingIfNeeded: bits >> 8) }
        }
        return combined & invalid == 0
    }

    /// The tables' value for a character outside the alphabet: a bit above the 24 bits of four digits.
    private static let invalid: UInt32 = 1 << 24

    /// Decodes text; returns nil in the same cases as for bytes.
    package func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8)[...]) }

    /// Encodes bytes.
    package func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        // Use contiguous storage if possible. Callers are in other modules, where this generic function isn't
        // specialized, and iterating over a sequence takes forty times as long.
        bytes.withContiguousStorageIfAvailable { encoding(of: UnsafeRawBufferPointer($0)) }
            ?? Array(bytes).withUnsafeBytes { encoding(of: $0) }
    }

    /// Encodes bytes as text.
    package func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: encode(bytes), as: UTF8.self) }

    /// Encodes bytes, with padding in the standard alphabet.
    private func encoding(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let lastBytes = bytes.count % 3
        let digits = bytes.count / 3 * 4 + (lastBytes == 0 ? 0 : lastBytes + 1)
        let size = self == .standard ? (digits + 3) & ~3 : digits
        let alphabet = self == .standard ? Self.standardAlphabet : Self.urlSafeAlphabet
        return [UInt8](unsafeUninitializedCapacity: size) { output, count in
            // Safe: each index into the alphabet has six bits, and the output is written within the size computed
            // above.
            alphabet.withUnsafeBufferPointer { Self.encode(bytes, using: $0, into: output) }
            for index in digits..<size { output[index] = UInt8(ascii: "=") }
            count = size
        }
    }

    /// Encodes three bytes at a time into four digits. The last one or two bytes become two or three digits.
    private static func encode(
        _ bytes: UnsafeRawBufferPointer, using alphabet: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) {
        var index = 0
        var written = 0
        while bytes.count - index >= 3 {
            let (first, second, third) = (bytes[index], bytes[index + 1], bytes[index + 2])
            output[written] = alphabet[Int(first >> 2)]
            output[written + 1] = alphabet[Int((first & 3) << 4 | second >> 4)]
            output[written + 2] = alphabet[Int((second & 15) << 2 | third >> 6)]
            output[written + 3] = alphabet[Int(third & 63)]
            index += 3
            written += 4
        }
        let lastBytes = bytes.count - index
        guard lastBytes > 0 else { return }
        let (first, second) = (bytes[index], lastBytes > 1 ? bytes[index + 1] : 0)
        output[written] = alphabet[Int(first >> 2)]
        output[written + 1] = alphabet[Int((first & 3) << 4 | second >> 4)]
        if lastBytes > 1 { output[written + 2] = alphabet[Int((second & 15) << 2)] }
    }

    private static let standardAlphabet = alphabet(endingIn: "+/")
    private static let urlSafeAlphabet = alphabet(endingIn: "-_")
    private static let standardValues = values(of: standardAlphabet)
    private static let urlSafeValues = values(of: urlSafeAlphabet)

    private static func alphabet(endingIn last: String) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8) + Array(last.utf8)
    }

    /// Returns four tables for the 256 bytes: the value of a byte as the first, second, third and fourth of four
    /// digits, as 24 bits. For a byte outside the alphabet, the value is `invalid`.
    private static func values(of alphabet: [UInt8]) -> [UInt32] {
        var values = [UInt32](repeating: invalid, count: 4 * 256)
        for (value, character) in alphabet.enumerated() {
            for digit in 0..<4 { values[256 * digit + Int(character)] = UInt32(value) << UInt32(18 - 6 * digit) }
        }
        return values
    }
}
