import TenureJSON
import Testing

@Suite struct JSONObjectTests {
    private func object(_ text: String) throws -> JSONObject {
        let tape = try JSONTape(Array(text.utf8))
        return JSONObject(tape, at: tape.root)
    }

    @Test func `setting a member of an object keeps its place, adds it at the end, or removes it`() {
        var object: JSONObject = ["a": .integer(1), "b": .null, "c": .boolean(true)]
        object["b"] = .string("x")
        object["d"] = .integer(-4)
        object["a"] = nil
        object["none"] = nil
        #expect(String(decoding: JSONValue.object(object).bytes, as: UTF8.self) == #"{"b":"x","c":true,"d":-4}"#)
        #expect(object["a"] == nil && object["b"] == .string("x"))
    }

    @Test func `a member of an object is read only as the kind that it has`() throws {
        let object = try object(
            """
            {"text":"1","number":1,"large":9223372036854775808,"fraction":1.5,"flag":true,"null":null,\
            "object":{"a":1},"array":["a",1,"b",{"c":2},null,{"d":3}]}
            """)
        let names = ["text", "number", "large", "fraction", "flag", "null", "object", "array", "missing"]
        #expect(names.filter { object.text($0) != nil } == ["text"])
        #expect(names.filter { object.number($0) != nil } == ["number", "large", "fraction"])
        #expect(names.filter { object.integer($0) != nil } == ["number"])
        #expect(names.filter { object.flag($0) != nil } == ["flag"])
        #expect(names.filter { object.object($0) != nil } == ["object"])
        #expect(names.filter { !object.objects($0).isEmpty } == ["array"])
        #expect(names.filter { !object.texts($0).isEmpty } == ["array"])
        #expect(object.text("text") == "1" && object.number("fraction") == "1.5" && object.flag("flag") == true)
        #expect(object.texts("array") == ["a", "b"])
        let objects: [JSONObject] = [["c": .integer(2)], ["d": .integer(3)]]
        #expect(object.objects("array") == objects)
    }

    @Test func `an integer outside of its range is read as none`() throws {
        let object = try object(#"{"number":7}"#)
        for (range, number) in [(7...7, 7), (0...7, 7), (7...9, 7), (0...6, nil), (8...9, nil)]
            as [(ClosedRange<Int>, Int?)]
        {
            #expect(object.integer("number", in: range) == number, "\(range)")
        }
    }

    @Test func `a written string has escapes for the characters that readers of text files reject`() {
        let text =
            "\u{1F} \u{7E}\u{7F}\u{9F}\u{A0}\u{2027}\u{2028}\u{2029}\u{FEFF}\u{FFFD}"
            + "\u{FFFE}\u{FFFF}\u{10000}\"\\/\n"
        let expected =
            #""\u001f "# + "\u{7E}" + #"\u007f\u009f"# + "\u{A0}\u{2027}" + #"\u2028\u2029\ufeff"# + "\u{FFFD}"
            + #"\ufffe\uffff"# + "\u{10000}" + #"\"\\/\u000a""#
        #expect(JSONValue.string(text).bytes == Array(expected.utf8))
    }

    @Test func `only the names of the object itself count when a name is looked for`() throws {
        let tape = try JSONTape(Array(#"{"ab":{"abcd":1,"x":{}},"c":[{"efghi":{}}],"d":{}}"#.utf8))
        #expect([1, 2, 3, 4, 5].filter { tape.mayHaveName(ofLength: $0, inObjectAt: tape.root) } == [1, 2])
        #expect(tape.value(named: "abcd", inObjectAt: tape.root) == nil)
        // The nodes: the object, `ab`, its object, `abcd`, 1, `x`, its object, `c` and so on.
        let inner = try #require(tape.value(named: "ab", inObjectAt: tape.root))
        #expect(inner == 2)
        #expect(tape.value(named: "abcd", inObjectAt: inner) == 4)
        #expect(tape.value(named: "d", inObjectAt: inner) == nil)
        #expect(tape.objects(inObjectAt: tape.root) == [2, 13])
        #expect(tape.objects(inObjectAt: inner) == [6])
        // A value that isn't an object has no names.
        #expect(tape.value(named: "abcd", inObjectAt: 4) == nil)
        #expect(!tape.mayHaveName(ofLength: 1, inObjectAt: 4) && tape.objects(inObjectAt: 4).isEmpty)
        // A name with escapes may have any length.
        let escaped = try JSONTape(Array(#"{"\u0061b":1}"#.utf8))
        #expect(escaped.mayHaveName(ofLength: 2, inObjectAt: escaped.root))
        #expect(escaped.mayHaveName(ofLength: 99, inObjectAt: escaped.root))
    }
}
