import Foundation
import TenureJSON
import Testing

@Suite struct Base64Tests {
    @Test func `Base64 of every length is written as Foundation writes it, and read back`() {
        for count in 0..<100 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            let standard = Base64.standard.encode(bytes)
            #expect(String(decoding: standard, as: UTF8.self) == Data(bytes).base64EncodedString())
            #expect(Base64.standard.decode(standard[...]) == bytes)
            let urlSafe = Base64.urlSafe.encode(bytes)
            let foundations = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            #expect(String(decoding: urlSafe, as: UTF8.self) == foundations.replacing("=", with: ""))
            #expect(Base64.urlSafe.encode(Data(bytes)) == urlSafe)
            #expect(Base64.urlSafe.encode(([0] + bytes)[1...]) == urlSafe)
            #expect(!urlSafe.contains(UInt8(ascii: "=")))
            #expect(Base64.urlSafe.decode(urlSafe[...]) == bytes)
        }
    }

    @Test(arguments: [
        "A", "AA", "AAA", "AA=", "AAA==", "====", "AB==", "AAB=", "A===", "AA==AA==", "AAAA=", "AAAA\n", " AAAA",
        "AA-_", "é", "=", "=AAA",
    ])
    func `standard Base64 is accepted only in its canonical form`(text: String) {
        #expect(Base64.standard.decode(Array(text.utf8)[...]) == nil)
    }

    @Test(arguments: ["A", "AB", "AAB", "AA==", "AAA=", "AA+/", "AAAAA", "AA A", "A\0AA", "AAA\u{7F}"])
    func `URL-safe Base64 is accepted only in its canonical form`(text: String) {
        #expect(Base64.urlSafe.decode(Array(text.utf8)[...]) == nil)
    }

    @Test func `Base64 of no bytes is an empty string`() {
        #expect(Base64.standard.decode([]) == [])
        #expect(Base64.urlSafe.decode([]) == [])
    }
}
