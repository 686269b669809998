/// A JSON value. Numbers keep their digits, and objects keep the order of their members.
public enum JSONValue: Sendable, Hashable {
    case object(JSONObject)
    case array([JSONValue])
    case string(String)
    /// A number as written, such as `9007199254740993` or `1697679936049.7297`, so that no digit is lost.
    case number(String)
    case boolean(Bool)
    case null

    /// Parses a whole JSON text (RFC 8259). Duplicate names, NUL, invalid UTF-8 and more than 64 levels are errors.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        let tape = try JSONTape(bytes)
        self.init(tape, at: tape.root)
    }

    /// Decodes the value at an index of the tape.
    package init(_ tape: JSONTape, at index: Int) {
        guard index < tape.nodes.count else {
            self = .null
            return
        }
        let node = tape.nodes[index]
        switch node.kind {
        case .object: self = .object(JSONObject(tape, at: index))
        case .array:
            var elements: [JSONValue] = []
            var element = index + 1
            while element < Int(node.next) {
                elements.append(JSONValue(tape, at: element))
                element = Int(tape.nodes[element].next)
            }
            self = .array(elements)
        case .string, .escapedString: self = .string(tape.string(at: index) ?? "")
        case .number: self = .number(tape.withText(at: index) { String(decoding: $0, as: UTF8.self) })
        case .true: self = .boolean(true)
        case .false: self = .boolean(false)
        case .null: self = .null
        }
    }

    /// The value as compact JSON. Members keep their order, so equal values have equal bytes.
    public var bytes: [UInt8] {
        var output: [UInt8] = []
        write(to: &output)
        return output
    }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .object(let object):
            output.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .string(let text): Self.write(text, to: &output)
        case .number(let text): output.append(contentsOf: text.utf8)
        case .boolean(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .null: output.append(contentsOf: "null".utf8)
        }
    }

    /// Writes a string in quotes.
    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5C: output.append(contentsOf: [UInt8(ascii: "\\"), UInt8(scalar.value)])
            // Also escape characters that readers of text files reject: control characters, line separators, the byte
            // order mark, U+FFFE and U+FFFF.
            case ..<0x20, 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE...0xFFFF:
                output.append(contentsOf: "\\u".utf8)
                for shift in [12, 8, 4, 0] as [UInt32] {
                    output.append(HexDigit.lowercase(UInt8(truncatingIfNeeded: scalar.value >> shift) & 15))
                }
            case ..<0x7F: output.append(UInt8(scalar.value))
            default: output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Creates a whole number.
    public static func integer(_ value: Int64) -> JSONValue { .number(String(value)) }
}
