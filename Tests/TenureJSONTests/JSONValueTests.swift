import TenureJSON
import Testing

@Suite struct JSONValueTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test(arguments: [
        "{}", "[]", "0", "-0", "-1.5e+3", "\"\"", "true", "false", "null", #"{"a":{"b":[1,2,{"c":null}]},"d":"é"}"#,
        #"["\ud83d\ude00","\u0041","\"\\\/\b\f\n\r\t"]"#, "[1.0,1.00,123456789012345678901234567890]",
        #"{"a":1,"ab":2,"abc":3}"#, #"{"abc":1,"ab":2,"a":3,"":4}"#,
    ])
    func `valid JSON is read and written again without loss`(text: String) throws {
        let value = try parse(text)
        #expect(try JSONValue(parsing: value.bytes) == value)
        if !text.contains("\\") { #expect(String(decoding: value.bytes, as: UTF8.self) == text) }
    }

    @Test(arguments: [
        "", " ", "{", "}", "[", "[1,]", "[,1]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{a:1}"#, #"{xa":1}"#,
        #"{"a":1,xb":2}"#, "'a'", "01",
        "1.", ".5",
        "+1", "-", "1e", "1e+", "0x1", "NaN", "Infinity", "tru", "nul", "True", "\"", "\"\\\"", #""\x""#, #""\u12""#,
        #""\u12g4""#, #""\ud83d""#, #""\ud83dx""#, #""\ud83d\u0041""#, #""\ude00""#, "\"\u{01}\"", "\"\n\"", "1 2",
        "{}{}",
        "[1]x", "\u{FEFF}{}", #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"x":{"b":1,"c":2,"b":3}}"#, "//\n1",
        "[1 2]",
    ])
    func `invalid JSON is malformed`(text: String) {
        #expect(throws: JSONError.self) { try parse(text) }
    }

    @Test func `the error for a byte order mark names it`() throws {
        let error = try #require(throws: JSONError.self) { try parse("\u{FEFF}{}") }
        #expect("\(error)".contains("byte order mark"), "\(error)")
    }

    @Test(
        arguments: [
            [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0x80], [0xC3], [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xFF],
        ] as [[UInt8]])
    func `JSON that isn't UTF-8 is malformed`(bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22] + bytes + [0x22]) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22] + bytes) }
    }

    @Test func `JSON of 64 levels is read, and deeper JSON is refused`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try parse(nested(64)) }
        #expect(throws: JSONError.self) { try parse(nested(65)) }
        #expect(throws: JSONError.self) { try parse(String(repeating: "{\"a\":", count: 100_000)) }
    }

    @Test func `a value is found under its name, whether the name is written with escapes or not`() throws {
        let tape = try JSONTape(Array(#"{"\u0061b":1,"cd":2,"a\u0062c":3,"e\u0301":4}"#.utf8))
        func text(_ name: StaticString) -> String? {
            tape.value(named: name, inObjectAt: tape.root).flatMap { index in
                tape.withText(at: index) { String(decoding: $0, as: UTF8.self) }
            }
        }
        #expect(text("ab") == "1" && text("cd") == "2" && text("abc") == "3")
        // The same letter in another Unicode form is another name.
        #expect(text("a") == nil && text("e\u{301}") == "4" && text("\u{E9}") == nil)
    }

    @Test func `the limit for names counts the names of all objects together`() {
        for (text, isValid) in [
            (#"{"a":1,"b":2,"c":3}"#, true), (#"[{"a":{"a":1}},{"a":1}]"#, true), ("{}", true),
            (#"{"a":1,"b":2,"c":3,"d":4}"#, false), (#"[{"a":{"a":1}},{"a":1},{"a":1}]"#, false),
        ] {
            let error = StrictJSON.error(in: Array(text.utf8), maximumNames: 3)
            #expect((error == nil) == isValid, "\(text)")
        }
    }

    @Test func `a duplicate among thousands of names of a JSON object is found`() throws {
        let members = (0..<5000).map { "\"n\($0)\":\($0)" }
        #expect(throws: Never.self) { try parse("{\(members.joined(separator: ","))}") }
        #expect(throws: JSONError.self) { try parse("{\((members + ["\"n7\":0"]).joined(separator: ","))}") }
    }

    @Test(arguments: [1, 60])
    func `names of JSON objects are compared by their bytes, escaped or not, in small and large objects`(others: Int)
        throws
    {
        let members = (0..<others).map { "\"n\($0)\":\($0)" }
        func object(_ more: String...) -> String { "{\((members + more.map { "\($0):0" }).joined(separator: ","))}" }
        // One letter in two Unicode forms, which have different bytes.
        #expect(throws: Never.self) { try parse(object("\"\u{E9}\"", "\"e\u{301}\"")) }
        #expect(throws: Never.self) { try parse(object(#""\u00e9""#, #""e\u0301""#)) }
        #expect(throws: JSONError.self) { try parse(object(#""\u00e9""#, "\"\u{E9}\"")) }
        #expect(throws: JSONError.self) { try parse(object("\"n\u{E9}\"", "\"n\u{E9}\"")) }
    }

    @Test func `the JSON reader never reads past the end of a truncated or changed text`() {
        let text = Array(#"{"a":[1,-2.5e3,"\u0041\ud83d\ude00é"],"b":{"c":true,"d":null}}"#.utf8)
        for count in 0..<text.count {
            #expect(throws: JSONError.self) { try JSONValue(parsing: Array(text.prefix(count))) }
        }
        for index in text.indices {
            for byte in stride(from: UInt8(0), through: 255, by: 5) {
                var changed = text
                changed[index] = byte
                // The text may be valid or not. The reader must return.
                _ = try? JSONValue(parsing: changed)
            }
        }
    }
}
