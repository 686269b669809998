/// Tests eight bytes of text at a time for characters that JSON escapes.
package enum JSONWord {
    /// 1 in each of the eight bytes.
    @usableFromInline static let ones: UInt64 = 0x0101_0101_0101_0101
    /// 0x80 in each of the eight bytes.
    @usableFromInline static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Returns a word with the highest bit set for each byte that is a control character, a quotation mark or a
    /// backslash. Only the lowest set bit is reliable, because a borrow may set bits above it.
    @inlinable package static func escaped(_ word: UInt64) -> UInt64 {
        let controls = (word &- (ones &* 0x20)) & ~word
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        let marks = controls | ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
        return marks & highBits
    }

    /// Whether JSON escapes this byte.
    @inlinable static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Returns the same as `escaped`, with a bit also for each byte that isn't ASCII.
    @inlinable static func special(_ word: UInt64) -> UInt64 { escaped(word) | (word & highBits) }
}
