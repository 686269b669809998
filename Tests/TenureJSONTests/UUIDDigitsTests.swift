import Foundation
import TenureJSON
import Testing

@Suite struct UUIDDigitsTests {
    @Test func `a UUID is written as Foundation writes it, but in lower case`() {
        for _ in 0..<50 {
            let id = UUID()
            #expect(String(decoding: id.lowercaseUTF8, as: UTF8.self) == id.uuidString.lowercased())
        }
    }

    @Test func `a UUID is read as Foundation reads it, in either case`() {
        for _ in 0..<50 {
            let id = UUID()
            #expect(UUID(digits: id.uuidString) == id)
            #expect(UUID(digits: id.uuidString.lowercased()) == id)
        }
    }

    @Test(arguments: [
        "", "-", "12345678-1234-1234-1234-1234567890", "12345678-1234-1234-1234-1234567890123",
        "12345678-1234-1234-1234-12345678901g", "123456781234-1234-1234-1234567890123-",
        "12345678_1234-1234-1234-123456789012", " 2345678-1234-1234-1234-123456789012",
        "+1345678-1234-1234-1234-123456789012", "éééééééééééééééééé",
    ])
    func `a string without the form of a UUID isn't read as a UUID`(text: String) {
        #expect(UUID(digits: text) == nil)
    }
}
