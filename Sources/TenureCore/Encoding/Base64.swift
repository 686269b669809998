/// Base64 as RFC 4648 wants it: canonical, so that one sequence of bytes has one spelling.
///
/// A lenient decoder gives one signature sixteen spellings, which defeats every comparison of artifacts as text.
package enum Base64 {
    /// Standard alphabet (`+`, `/`) with exact padding: `x5c` entries and receipts.
    case standard
    /// URL-safe alphabet (`-`, `_`) without padding: the segments of a JWS.
    case urlSafe

    /// The bytes that `text` spells; nil where a character is foreign, the padding is wrong or unused bits are not 0.
    package func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var digits = text
        if self == .standard {
            guard digits.count.isMultiple(of: 4) else { return nil }
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        let remainder = digits.count % 4
        guard remainder != 1, self == .urlSafe || (remainder + (text.count - digits.count)) % 4 == 0 else { return nil }
        let size = digits.count / 4 * 3 + (remainder == 0 ? 0 : remainder - 1)
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            // Both buffers are read and written within the sizes computed above.
            digits.withUnsafeBufferPointer { digits in
                // Where they stand, without one more owner: all cores would count it.
                switch self {
                case .standard:
                    isValid = Self.standardValues.withUnsafeBufferPointer { Self.decode(digits, by: $0, into: output) }
                case .urlSafe:
                    isValid = Self.urlSafeValues.withUnsafeBufferPointer { Self.decode(digits, by: $0, into: output) }
                }
            }
            count = isValid ? size : 0
        }
        return isValid ? bytes : nil
    }

    private static func decode(
        _ digits: UnsafeBufferPointer<UInt8>,
        by values: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        // A foreign character has the value 0xFF: its upper bits survive in the union of all values.
        var union: UInt8 = 0
        var index = 0
        var written = 0
        let whole = digits.count & ~3
        while index < whole {
            let a = values[Int(digits[index])]
            let b = values[Int(digits[index + 1])]
            let c = values[Int(digits[index + 2])]
            let d = values[Int(digits[index + 3])]
            union |= a | b | c | d
            output[written] = a << 2 | b >> 4
            output[written + 1] = b << 4 | c >> 2
            output[written + 2] = c << 6 | d
            index += 4
            written += 3
        }
        switch digits.count - whole {
        case 2:
            let a = values[Int(digits[index])]
            let b = values[Int(digits[index + 1])]
            union |= a | b
            guard b & 0x0F == 0 else { return false }
            output[written] = a << 2 | b >> 4
        case 3:
            let a = values[Int(digits[index])]
            let b = values[Int(digits[index + 1])]
            let c = values[Int(digits[index + 2])]
            union |= a | b | c
            guard c & 0x03 == 0 else { return false }
            output[written] = a << 2 | b >> 4
            output[written + 1] = b << 4 | c >> 2
        default: break
        }
        return union & 0xC0 == 0
    }

    /// The same of a text.
    package func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8)[...]) }

    /// The spelling of `bytes`.
    package func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        // Callers are in other modules, where nobody makes a special version of this for their type: byte by byte
        // through a sequence it takes forty times as long.
        bytes.withContiguousStorageIfAvailable { spelling(of: UnsafeRawBufferPointer($0)) }
            ?? Array(bytes).withUnsafeBytes { spelling(of: $0) }
    }

    /// The same as a text.
    package func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: encode(bytes), as: UTF8.self) }

    private func spelling(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let rest = bytes.count % 3
        let digits = bytes.count / 3 * 4 + (rest == 0 ? 0 : rest + 1)
        let size = self == .standard ? (digits + 3) & ~3 : digits
        let alphabet = self == .standard ? Self.standardAlphabet : Self.urlSafeAlphabet
        return [UInt8](unsafeUninitializedCapacity: size) { output, count in
            // Each index of the alphabet has six bits, and the output is written within the size computed above.
            alphabet.withUnsafeBufferPointer { Self.encode(bytes, by: $0, into: output) }
            for index in digits..<size { output[index] = UInt8(ascii: "=") }
            count = size
        }
    }

    private static func encode(
        _ bytes: UnsafeRawBufferPointer,
        by alphabet: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) {
        var index = 0
        var written = 0
        while bytes.count - index >= 3 {
            let (a, b, c) = (bytes[index], bytes[index + 1], bytes[index + 2])
            output[written] = alphabet[Int(a >> 2)]
            output[written + 1] = alphabet[Int((a & 3) << 4 | b >> 4)]
            output[written + 2] = alphabet[Int((b & 15) << 2 | c >> 6)]
            output[written + 3] = alphabet[Int(c & 63)]
            index += 3
            written += 4
        }
        let rest = bytes.count - index
        guard rest > 0 else { return }
        let (a, b) = (bytes[index], rest > 1 ? bytes[index + 1] : 0)
        output[written] = alphabet[Int(a >> 2)]
        output[written + 1] = alphabet[Int((a & 3) << 4 | b >> 4)]
        if rest > 1 { output[written + 2] = alphabet[Int((b & 15) << 2)] }
    }

    private static let standardAlphabet = alphabet(endingIn: "+/")
    private static let urlSafeAlphabet = alphabet(endingIn: "-_")
    private static let standardValues = values(of: standardAlphabet)
    private static let urlSafeValues = values(of: urlSafeAlphabet)

    private static func alphabet(endingIn last: String) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8) + Array(last.utf8)
    }

    /// The value of each of the 256 bytes; 0xFF for those that are not in the alphabet.
    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }
}
