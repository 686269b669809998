import TenureMint
import Testing

@testable import TenureJSON

@Suite struct JSONWordTests {
    /// The place of the first marked byte; nil if no byte is marked.
    private func first(_ marks: UInt64) -> Int? { marks == 0 ? nil : marks.trailingZeroBitCount / 8 }

    private func bytes(of word: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }

    private func isEscaped(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x22 || byte == 0x5C }

    @Test func `the JSON reader's word search finds every byte at every offset`() {
        for place in 0..<8 {
            for byte in UInt8.min...UInt8.max {
                let blanks: UInt64 = 0x2020_2020_2020_2020
                let word = blanks & ~(0xFF << (8 * place)) | UInt64(byte) << (8 * place)
                #expect(first(JSONWord.escaped(word)) == (isEscaped(byte) ? place : nil))
                #expect(first(JSONWord.special(word)) == (isEscaped(byte) || byte >= 0x80 ? place : nil))
            }
        }
    }

    @Test func `the JSON reader's word search finds the first of several bytes, whatever the next bytes are`() {
        var random = SeededRandom(seed: 30)
        // Bytes next to the limits, where a borrow of the subtraction could mark a wrong byte.
        let borders: [UInt8] = [
            0, 1, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7F, 0x80, 0x81, 0xA0, 0xA2, 0xDC, 0xFF,
        ]
        for _ in 0..<100_000 {
            var word: UInt64 = 0
            for _ in 0..<8 { word = word << 8 | UInt64(borders[Int(random.next() % UInt64(borders.count))]) }
            let bytes = bytes(of: word)
            #expect(first(JSONWord.escaped(word)) == bytes.firstIndex(where: isEscaped))
            #expect(first(JSONWord.special(word)) == bytes.firstIndex { isEscaped($0) || $0 >= 0x80 })
        }
    }
}
