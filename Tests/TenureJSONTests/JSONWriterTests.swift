import Foundation
import TenureJSON
import Testing

@Suite struct `the JSON writer` {
    @Test(arguments: ["", "plain", "quote \" and \\", "line\nbreak\ttab\r", "\u{0}\u{1F}", "é 😀 “x”", "/"])
    func `text from the JSON writer reads back unchanged`(text: String) throws {
        var json = JSONWriter()
        json.object { json in
            json.key(text)
            json.value(text)
        }
        let read = try JSONDecoder().decode([String: String].self, from: Data(json.bytes))
        #expect(read == [text: text])
    }

    @Test func `the JSON writer escapes strings where necessary, and grows beyond its first buffer`() throws {
        for length in 0..<40 {
            for place in 0..<max(length, 1) {
                var text = Array(repeating: "a", count: length)
                if length > 0 { text[place] = place.isMultiple(of: 2) ? "\"" : "\n" }
                var json = JSONWriter(capacity: 1)
                json.array([text.joined(), "“é”", String(repeating: "b", count: 300)]) { $0.value($1) }
                let read = try JSONDecoder().decode([String].self, from: Data(json.bytes))
                #expect(read == [text.joined(), "“é”", String(repeating: "b", count: 300)])
            }
        }
    }

    @Test func `the JSON writer can write a string in pieces`() {
        var json = JSONWriter()
        json.array([["a", "", "\"b"], []]) { json, pieces in
            json.text { for piece in pieces { $0.write(piece) } }
        }
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"["a\"b",""]"#)
    }

    @Test func `the JSON writer puts commas where they belong, in the compact and the readable layout`() throws {
        for layout in [JSONWriter.Layout.compact, .readable] {
            var json = JSONWriter(layout)
            json.object { json in
                json.key("a")
                json.beginArray()
                json.endArray()
                json.key("b")
                json.array([1, 2]) { $0.value($1) }
                json.key("c")
                json.object { _ in }
                json.key("d")
                json.null()
                json.key("e")
                json.value(true)
                json.key("f")
                json.value(-12)
            }
            let text = String(decoding: json.bytes, as: UTF8.self)
            #expect(text.filter { !$0.isWhitespace } == #"{"a":[],"b":[1,2],"c":{},"d":null,"e":true,"f":-12}"#)
        }
        var json = JSONWriter(.readable)
        json.object {
            $0.key("a"); $0.array([1]) { $0.value($1) }
        }
        #expect(String(decoding: json.bytes, as: UTF8.self) == "{\n  \"a\": [\n    1\n  ]\n}")
    }

    @Test func `the JSON writer writes null for a number that JSON doesn't have`() {
        var json = JSONWriter()
        json.array([1.5, -.infinity, .infinity, .nan, 0]) { $0.value($1) }
        #expect(String(decoding: json.bytes, as: UTF8.self) == "[1.5,null,null,null,0.0]")
    }

    @Test func `a value that the JSON writer repeats is separated from its neighbors`() {
        var json = JSONWriter()
        json.beginArray()
        let text = json.repeatable { $0.value("a") }
        json.repeated(text)
        json.value(["b", "c"])
        let object = json.repeatable { json in
            json.object {
                $0.key("k"); $0.null()
            }
        }
        json.repeated(object)
        json.repeated(text)
        json.value(true)
        json.endArray()
        #expect(
            String(decoding: json.bytes, as: UTF8.self) == #"["a","a",["b","c"],{"k":null},{"k":null},"a",true]"#)
    }

    @Test func `a value that the JSON writer repeats first in an array is separated from the next value`() {
        var json = JSONWriter()
        json.beginArray()
        let text = json.repeatable { $0.value("a") }
        json.beginArray()
        json.repeated(text)
        json.value("b")
        json.endArray()
        json.endArray()
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"["a",["a","b"]]"#)
    }

    @Test func `the JSON writer writes instants like Date.rfc3339`() {
        var random = SystemRandomNumberGenerator()
        let instants =
            [
                0, -1, 0.001, -0.001, 86_399.999, -62_135_596_800, 253_402_300_799.999, 253_402_300_800,
                -62_135_769_600, 1e15,
            ]
            + (0..<2000).map { _ in
                Double(Int.random(in: -70_000_000_000_000...260_000_000_000_000, using: &random)) / 1000
            }
        for seconds in instants {
            let date = Date(timeIntervalSince1970: seconds)
            var json = JSONWriter()
            json.value(date)
            #expect(String(decoding: json.bytes, as: UTF8.self) == "\"\(date.rfc3339)\"")
        }
    }

    @Test(arguments: [Int64.min, -1, 0, 9, 10, Int64.max])
    func `the JSON writer writes whole numbers without a fraction`(number: Int64) {
        var json = JSONWriter()
        json.value(number)
        #expect(String(decoding: json.bytes, as: UTF8.self) == String(number))
    }

    @Test func `a field of the JSON writer is left out or null without a value, and names of dictionaries are sorted`()
    {
        let json = JSONWriter.object { json in
            json.field("texts", ["b": "2", "a": "1", "c": "3"])
            json.field("counts", ["z": 1, "y": 2, "x": 3])
            json.field("none", ifPresent: String?.none)
            json.field("some", ifPresent: "s" as String?)
            json.field("noNumber", ifPresent: Int?.none)
            json.field("number", ifPresent: 7 as Int?)
            json.field("nullText", orNull: String?.none)
            json.field("text", orNull: "t" as String?)
            json.field("nullNumber", orNull: Int?.none)
            json.field("eight", orNull: 8 as Int?)
            json.field("noDate", Date?.none)
            json.field("date", Date(timeIntervalSince1970: 0.25))
            json.field("clamped", UInt64.max)
            json.field("flag", false)
        }
        let expected = #"""
            {"texts":{"a":"1","b":"2","c":"3"},"counts":{"x":3,"y":2,"z":1},"some":"s","number":7,"nullText":null,\#
            "text":"t","nullNumber":null,"eight":8,"noDate":null,"date":"1970-01-01T00:00:00.250Z",\#
            "clamped":9223372036854775807,"flag":false}
            """#
        #expect(String(decoding: json, as: UTF8.self) == expected)
    }

    @Test func `the readable layout of the JSON writer indents each level by two spaces`() {
        let json = JSONWriter.object(.readable) { json in
            json.field("a", [String]())
            json.object("b") { json in
                json.field("c", 1)
                json.field("d", ["e", "f"])
            }
            json.field("g", true)
        }
        let expected = """
            {
              "a": [],
              "b": {
                "c": 1,
                "d": [
                  "e",
                  "f"
                ]
              },
              "g": true
            }
            """
        #expect(String(decoding: json, as: UTF8.self) == expected)
    }
}
