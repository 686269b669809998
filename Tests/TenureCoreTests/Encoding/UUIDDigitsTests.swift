import Foundation
import TenureCore
import Testing

@Suite struct UUIDDigitsTests {
    @Test func `a UUID is spelled as Foundation spells it, in lower case`() {
        for _ in 0..<50 {
            let id = UUID()
            #expect(String(decoding: id.lowercaseUTF8, as: UTF8.self) == id.uuidString.lowercased())
        }
    }
}
