/// Escapes in JSON strings (RFC 8259, section 7).
enum JSONEscapes {
    /// Moves `position` from a backslash to the byte after its escape. A pair of surrogates is one escape.
    static func skip(in buffer: UnsafeBufferPointer<UInt8>, at position: inout Int, allowsNUL: Bool) throws(JSONError) {
        let start = position
        guard position + 1 < buffer.count else { throw JSONError(offset: start, reason: JSONError.unterminatedString) }
        switch buffer[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            guard let unit = unit(in: buffer[...], at: position + 2)
            else { throw JSONError(offset: start, reason: "`\\u` needs four hexadecimal digits") }
            // Reject NUL: PostgreSQL can't store it in text, and C programs treat it as the end of the text.
            guard unit != 0 || allowsNUL
            else { throw JSONError(offset: start, reason: "a string contains a NUL; remove it") }
            position += 6
            if UTF16.isLeadSurrogate(unit) {
                guard position + 1 < buffer.count, buffer[position] == UInt8(ascii: "\\"),
                    buffer[position + 1] == UInt8(ascii: "u"),
                    let trail = self.unit(in: buffer[...], at: position + 2), UTF16.isTrailSurrogate(trail)
                else { throw JSONError(offset: start, reason: JSONError.unpairedSurrogate) }
                position += 6
            } else if UTF16.isTrailSurrogate(unit) {
                throw JSONError(offset: start, reason: JSONError.unpairedSurrogate)
            }
        default:
            throw JSONError(
                offset: start, reason: "unknown escape; write one that JSON has, such as `\\n`, `\\\"` or `\\u0041`")
        }
    }

    /// Returns the text of a string that the parser has checked.
    static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
        var utf8: [UInt8] = []
        utf8.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.endIndex else {
                utf8.append(bytes[index])
                index += 1
                continue
            }
            let letter = bytes[index + 1]
            index += 2
            switch letter {
            case UInt8(ascii: "b"): utf8.append(0x08)
            case UInt8(ascii: "f"): utf8.append(0x0C)
            case UInt8(ascii: "n"): utf8.append(0x0A)
            case UInt8(ascii: "r"): utf8.append(0x0D)
            case UInt8(ascii: "t"): utf8.append(0x09)
            case UInt8(ascii: "u"):
                var sequence = [unit(in: bytes, at: index) ?? 0xFFFD]
                index += 4
                if UTF16.isLeadSurrogate(sequence[0]) {
                    sequence.append(unit(in: bytes, at: index + 2) ?? 0xFFFD)
                    index += 6
                }
                utf8.append(contentsOf: String(decoding: sequence, as: UTF16.self).utf8)
            default: utf8.append(letter)
            }
        }
        return String(decoding: utf8, as: UTF8.self)
    }

    /// Reads four hexadecimal digits as a UTF-16 code unit; nil if there are fewer.
    private static func unit<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes, at index: Int) -> UInt16?
    where Bytes.Index == Int {
        guard index >= bytes.startIndex, bytes.endIndex - index >= 4 else { return nil }
        var unit: UInt16 = 0
        for digit in bytes[index..<index + 4] {
            guard let value = HexDigit.value(digit) else { return nil }
            unit = unit << 4 | UInt16(value)
        }
        return unit
    }
}
