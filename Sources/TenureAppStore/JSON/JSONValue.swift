import TenureCore

/// A JSON value as it was written: numbers keep their digits, objects the order of their members.
public enum JSONValue: Sendable, Hashable {
    case object(JSONObject)
    case array([JSONValue])
    case string(String)
    /// As written, such as `9007199254740993` or `1697679936049.7297`: no reader loses a digit.
    case number(String)
    case boolean(Bool)
    case null

    /// Reads a whole JSON text; throws `malformed`. Strict: see the rules of the verifier.
    public init(parsing bytes: [UInt8]) throws(Rejection) {
        let tape = try JSONTape(bytes)
        self.init(tape, at: tape.root)
    }

    init(_ tape: JSONTape, at index: Int) {
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

    /// Compact JSON.
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

    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(contentsOf: [UInt8(ascii: "\\"), byte])
            case ..<0x20:
                output.append(contentsOf: "\\u00".utf8)
                output.append(contentsOf: [HexDigit.lowercase(byte >> 4), HexDigit.lowercase(byte & 15)])
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}

/// The members of a JSON object, in the order in which they stand.
public struct JSONObject: Sendable, Hashable {
    public struct Member: Sendable, Hashable {
        public let name: String
        public let value: JSONValue

        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    public var members: [Member]

    public init(members: [Member] = []) {
        self.members = members
    }

    init(_ tape: JSONTape, at index: Int) {
        guard index < tape.nodes.count, tape.nodes[index].kind == .object else {
            members = []
            return
        }
        members = []
        var name = index + 1
        while name + 1 < Int(tape.nodes[index].next) {
            members.append(Member(name: tape.string(at: name) ?? "", value: JSONValue(tape, at: name + 1)))
            name = Int(tape.nodes[name + 1].next)
        }
    }

    /// Setting replaces a member in its place, appends a new one, or with nil removes it.
    public subscript(name: String) -> JSONValue? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index] = Member(name: name, value: value)
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }
}
