import TenureJSON
import Testing

@Suite struct JSONErrorTests {
    /// The error in a text; nil if the text is valid.
    private func failure(in text: String) -> JSONError? {
        do throws(JSONError) {
            _ = try JSONValue(parsing: Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("", 0, "the text ends where a value is expected"),
            ("[1,", 3, "the text ends where a value is expected"),
            ("[1,]", 3, "expected a value; text needs double quotes"),
            ("tru", 0, "expected a value; text needs double quotes"),
            ("\u{FEFF}{}", 0, "JSON must not begin with a byte order mark; save it as UTF-8 without one"),
            ("1 2", 2, "unexpected text after the value; remove it"),
            ("{a:1}", 1, "expected a name in double quotes"),
            (#"{"a":1,}"#, 7, "remove the comma before this `}`"),
            (#"{"a" 1}"#, 5, "expected `:` after the name"),
            (#"{"a":1 "b":2}"#, 7, "expected `,` or `}`"),
            ("[1 2]", 3, "expected `,` or `]`"),
            ("[1.]", 3, "a number lacks digits; `-`, `.` and `e` need a digit after them"),
            ("[\"a", 3, "a string isn't closed; write `\"` where it ends"),
            ("\"a\n\"", 2, #"a string contains a control character; write an escape such as `\n`"#),
            (#""a\x""#, 2, #"unknown escape; write one that JSON has, such as `\n`, `\"` or `\u0041`"#),
            (#""\u12g4""#, 1, #"`\u` needs four hexadecimal digits"#),
            (#""a\u0000""#, 2, "a string contains a NUL; remove it"),
            (#""\ud83dx""#, 1, #"unpaired surrogate; characters beyond U+FFFF need two `\u` escapes"#),
            (#""\ude00""#, 1, #"unpaired surrogate; characters beyond U+FFFF need two `\u` escapes"#),
            (#"{"a":1,"b":2,"a":3}"#, 14, "`a` is repeated in one object"),
            (#"{"a":1,"\u0061":2}"#, 8, "`a` is repeated in one object"),
        ] as [(String, Int, String)])
    func `an error in JSON has the byte where it is, and its reason`(text: String, offset: Int, reason: String) throws {
        let error = try #require(failure(in: text))
        #expect(error.offset == offset)
        #expect(error.reason == reason)
        #expect(error.description == "invalid JSON at byte \(offset): \(reason)")
    }

    @Test func `the error for a limit of JSON has the limit`() throws {
        let deep = try #require(failure(in: String(repeating: "[", count: 65)))
        #expect(deep.offset == 64)
        #expect(deep.reason == "nested deeper than 64 levels; use fewer")
        let names = try #require(StrictJSON.error(in: Array(#"{"a":1,"b":2,"c":3}"#.utf8), maximumNames: 2))
        #expect(names.offset == 13)
        #expect(names.reason == "there are more than 2 names; leave out fields that aren't needed")
    }

    @Test func `the error for bytes that aren't UTF-8 has the first of them`() throws {
        let error = try #require(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0x61, 0xFF, 0x22]) }
        #expect(error.offset == 2)
        #expect(error.reason == "a string isn't valid UTF-8; encode the whole text as UTF-8")
    }

    @Test func `the error for a repeated name has at most 64 characters of the name`() throws {
        let name = String(repeating: "n", count: 70)
        let error = try #require(failure(in: "{\"\(name)\":1,\"\(name)\":2}"))
        #expect(error.reason == "`\(String(repeating: "n", count: 64))` is repeated in one object")
    }

    @Test(arguments: ["\u{0B}1", "1\u{0C}", "[\u{A0}1]", "\u{2028}1", "\u{85}1", "1\0"])
    func `only spaces, tabs, line feeds and carriage returns may be around a JSON value`(text: String) {
        #expect(failure(in: text) != nil)
        #expect(failure(in: " \t\n\r[ \t\n\r1 \t\n\r] \t\n\r") == nil)
    }

    @Test func `each option for reading JSON accepts one problem and no other`() throws {
        let (nul, duplicate) = (Array(#"["\u0000"]"#.utf8), Array(#"{"a":1,"a":2}"#.utf8))
        let tape = try JSONTape(nul, options: .nul)
        #expect(tape.string(at: 1) == "\0")
        #expect(throws: JSONError.self) { try JSONTape(nul, options: .duplicateNames) }
        #expect(throws: Never.self) { try JSONTape(duplicate, options: .duplicateNames) }
        #expect(throws: JSONError.self) { try JSONTape(duplicate, options: .nul) }
        // Nothing else that a text must not have becomes valid.
        for text in [#""\ud83d""#, "[1,]", "\"\0\"", "1 2"] {
            #expect(throws: JSONError.self) { try JSONTape(Array(text.utf8), options: [.nul, .duplicateNames]) }
        }
    }
}
