import Testing

@testable import TenureStore

/// Bytes that no release writes. `StoredFormatTests` has the format.
@Suite struct `damaged facts of a customer` {
    @Test(
        arguments: [
            ("an unknown version", [2, 0, 0, 0, 0, 0, 0], 1),
            ("an unknown kind of proof", [1, 0, 1, 0, 9, 0, 0, 0, 0], 5),
            ("an unknown platform", [1, 0, 1, 8, 1, 6, 0, 0, 0, 0], 6),
            ("an unknown type of product", [1, 0, 0, 1, 2, 1, 116, 1, 112, 9, 0, 0, 0], 10),
            ("a date that isn't a number", [1, 0, 0, 0, 0, 0, 1, 0, 1, 115, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F], 10),
            ("an infinite date", [1, 0, 0, 0, 0, 0, 1, 0, 1, 115, 0, 0, 0, 0, 0, 0, 0xF0, 0x7F], 10),
            ("a date without its last byte", [1, 0, 0, 0, 0, 0, 1, 0, 1, 115, 0, 0, 0, 0, 0, 0, 0], 10),
            (
                "a number of 65 bits",
                [1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2, 0, 0, 0, 0, 0], 11
            ),
            ("a list that is longer than the rest", [1, 0, 5, 0], 3),
            ("a text that is longer than the rest", [1, 0, 0, 1, 0, 5, 116], 6), ("a missing list", [1, 0, 0], 3),
            ("a byte after the end", [1, 0, 0, 0, 0, 0, 0, 0], 7), ("no bytes", [], 0),
        ] as [(String, [UInt8], Int)])
    func `damaged facts are an error with the place of the damage`(name: String, bytes: [UInt8], offset: Int) {
        #expect(throws: StoreError.damaged("the stored facts of a customer are invalid at byte \(offset)"), "\(name)") {
            try CustomerFacts(decoding: bytes)
        }
    }
}
