/// Checks whether bytes are well-formed UTF-8 (Unicode, table 3-7): no overlong forms, no surrogates, nothing past
/// U+10FFFF.
enum UTF8Sequence {
    /// Returns the length of the multibyte sequence at `index`. Returns 0 if it isn't well-formed.
    static func length(in buffer: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        guard index < buffer.count else { return 0 }
        // The range of the second byte. It is narrower after some first bytes.
        let second: ClosedRange<UInt8>
        let length: Int
        switch buffer[index] {
        case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xE1...0xEC, 0xEE...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: return 0
        }
        guard buffer.count - index >= length, second.contains(buffer[index + 1]) else { return 0 }
        for offset in 2..<max(length, 2) where !(0x80...0xBF).contains(buffer[index + offset]) { return 0 }
        return length
    }
}
