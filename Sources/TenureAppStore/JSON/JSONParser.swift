import Foundation
import TenureCore

/// One pass over the bytes. Every read of the buffer is checked against its end.
struct JSONParser {
    struct Mistake: Error {
        let position: Int
        let reason: String
    }

    private let buffer: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var nodes: [JSONTape.Node] = []

    init(buffer: UnsafeBufferPointer<UInt8>) {
        self.buffer = buffer
        // More than a payload of the App Store has; a text of N bytes has at most N values.
        nodes.reserveCapacity(min(64, buffer.count))
    }

    /// The nodes of one valid value that is the whole text, or the first mistake.
    mutating func parse() -> Result<[JSONTape.Node], Mistake> {
        do throws(Mistake) {
            skipBlanks()
            try parseValue(depth: 1)
            skipBlanks()
            guard position == buffer.count else { throw mistake("something follows the value") }
            return .success(nodes)
        } catch {
            return .failure(error)
        }
    }

    private func mistake(_ reason: String) -> Mistake {
        Mistake(position: position, reason: reason)
    }

    /// The next byte; 0, which stands nowhere in a valid text, at the end.
    private var current: UInt8 {
        position < buffer.count ? buffer[position] : 0
    }

    private mutating func skipBlanks() {
        while position < buffer.count {
            switch buffer[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func append(_ kind: JSONTape.Kind, from start: Int) {
        let next = Int32(truncatingIfNeeded: nodes.count + 1)
        nodes.append(
            JSONTape.Node(
                kind: kind,
                start: Int32(truncatingIfNeeded: start),
                end: Int32(truncatingIfNeeded: position),
                next: next
            )
        )
    }

    private mutating func close(_ index: Int) {
        nodes[index].end = Int32(truncatingIfNeeded: position)
        nodes[index].next = Int32(truncatingIfNeeded: nodes.count)
    }

    private mutating func parseValue(depth: Int) throws(Mistake) {
        switch current {
        case UInt8(ascii: "{"): try parseObject(depth: depth)
        case UInt8(ascii: "["): try parseArray(depth: depth)
        case UInt8(ascii: "\""): try parseString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try parseNumber()
        case UInt8(ascii: "t"): try parseWord("true", .true)
        case UInt8(ascii: "f"): try parseWord("false", .false)
        case UInt8(ascii: "n"): try parseWord("null", .null)
        default: throw mistake(position < buffer.count ? "no value begins here" : "the text ends too early")
        }
    }

    private mutating func parseObject(depth: Int) throws(Mistake) {
        guard depth <= JSONTape.maximumDepth else { throw mistake("more than \(JSONTape.maximumDepth) levels") }
        let object = nodes.count
        append(.object, from: position)
        position += 1
        skipBlanks()
        if current == UInt8(ascii: "}") {
            position += 1
            return close(object)
        }
        var count = 0
        while true {
            guard current == UInt8(ascii: "\"") else { throw mistake("a name is missing") }
            try parseString()
            count += 1
            skipBlanks()
            guard current == UInt8(ascii: ":") else { throw mistake("`:` is missing") }
            position += 1
            skipBlanks()
            try parseValue(depth: depth + 1)
            skipBlanks()
            if current == UInt8(ascii: ",") {
                position += 1
                skipBlanks()
            } else if current == UInt8(ascii: "}") {
                position += 1
                close(object)
                return try checkNamesDiffer(in: object, count: count)
            } else {
                throw mistake("`,` or `}` is missing")
            }
        }
    }

    private mutating func parseArray(depth: Int) throws(Mistake) {
        guard depth <= JSONTape.maximumDepth else { throw mistake("more than \(JSONTape.maximumDepth) levels") }
        let array = nodes.count
        append(.array, from: position)
        position += 1
        skipBlanks()
        if current == UInt8(ascii: "]") {
            position += 1
            return close(array)
        }
        while true {
            try parseValue(depth: depth + 1)
            skipBlanks()
            if current == UInt8(ascii: ",") {
                position += 1
                skipBlanks()
            } else if current == UInt8(ascii: "]") {
                position += 1
                return close(array)
            } else {
                throw mistake("`,` or `]` is missing")
            }
        }
    }

    private mutating func parseString() throws(Mistake) {
        position += 1
        let start = position
        var isEscaped = false
        while true {
            skipPlain()
            guard position < buffer.count else { break }
            switch buffer[position] {
            case UInt8(ascii: "\""):
                append(isEscaped ? .escapedString : .string, from: start)
                position += 1
                return
            case UInt8(ascii: "\\"):
                isEscaped = true
                try JSONEscapes.skip(in: buffer, at: &position)
            case ..<0x20: throw mistake("a control character stands in a string")
            case ..<0x80: position += 1
            default:
                let length = UTF8Sequence.length(in: buffer, at: position)
                guard length > 0 else { throw mistake("a string is not valid UTF-8") }
                position += length
            }
        }
        throw mistake("a string does not end")
    }

    /// To the next byte of a string that is no plain ASCII, eight at a time: most of a payload is names and ids.
    private mutating func skipPlain() {
        guard let base = UnsafeRawPointer(buffer.baseAddress) else { return }
        while buffer.count - position >= 8 {
            let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let special = JSONWord.special(word)
            guard special == 0 else {
                position += special.trailingZeroBitCount >> 3
                return
            }
            position += 8
        }
    }

    // RFC 8259, section 6.
    private mutating func parseNumber() throws(Mistake) {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") {
            position += 1
        } else {
            try skipDigits()
        }
        if current == UInt8(ascii: ".") {
            position += 1
            try skipDigits()
        }
        if current | 0x20 == UInt8(ascii: "e") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
        append(.number, from: start)
    }

    private mutating func skipDigits() throws(Mistake) {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { position += 1 }
        guard position > start else { throw mistake("a number lacks digits") }
    }

    private mutating func parseWord(_ word: StaticString, _ kind: JSONTape.Kind) throws(Mistake) {
        let start = position
        let length = word.utf8CodeUnitCount
        guard buffer.count - position >= length,
            buffer[position..<position + length].elementsEqual(
                UnsafeBufferPointer(start: word.utf8Start, count: length))
        else { throw mistake("no value begins here") }
        position += length
        append(kind, from: start)
    }

    /// Few names are compared in pairs, which needs no memory; many by a set, which needs no patience. Escaped ones too,
    /// so that each is unescaped once.
    private func checkNamesDiffer(in object: Int, count: Int) throws(Mistake) {
        guard count > 1 else { return }
        if count <= 48, !hasEscapedName(object) {
            var name = object + 1
            for _ in 0..<count {
                var other = Int(nodes[name + 1].next)
                let end = Int(nodes[object].next)
                while other < end {
                    guard !isSameText(nodes[name], nodes[other]) else { throw duplicate(nodes[other]) }
                    other = Int(nodes[other + 1].next)
                }
                name = Int(nodes[name + 1].next)
            }
        } else {
            // Bytes: a set of strings would take two spellings of one letter in Unicode for one name.
            var seen: Set<[UInt8]> = []
            var name = object + 1
            for _ in 0..<count {
                guard seen.insert(unescapedBytes(of: nodes[name])).inserted else { throw duplicate(nodes[name]) }
                name = Int(nodes[name + 1].next)
            }
        }
    }

    private func hasEscapedName(_ object: Int) -> Bool {
        var name = object + 1
        let end = Int(nodes[object].next)
        while name < end {
            if nodes[name].kind == .escapedString { return true }
            name = Int(nodes[name + 1].next)
        }
        return false
    }

    /// Of two strings without escapes.
    private func isSameText(_ left: JSONTape.Node, _ right: JSONTape.Node) -> Bool {
        let length = Int(left.end - left.start)
        guard length == Int(right.end - right.start) else { return false }
        guard let base = buffer.baseAddress else { return true }
        return memcmp(base + Int(left.start), base + Int(right.start), length) == 0
    }

    private func unescapedBytes(of node: JSONTape.Node) -> [UInt8] {
        node.kind == .escapedString ? Array(text(of: node).utf8) : Array(slice(of: node))
    }

    private func slice(of node: JSONTape.Node) -> Slice<UnsafeBufferPointer<UInt8>> {
        buffer[Int(node.start)..<Int(node.end)]
    }

    private func text(of node: JSONTape.Node) -> String {
        node.kind == .escapedString
            ? JSONEscapes.unescaped(Array(slice(of: node))[...])
            : String(decoding: slice(of: node), as: UTF8.self)
    }

    private func duplicate(_ node: JSONTape.Node) -> Mistake {
        Mistake(position: Int(node.start), reason: "`\(text(of: node).prefix(64))` stands twice in one object")
    }
}
