import Foundation

/// Parses JSON in one pass over the bytes into the nodes of a `JSONTape`. Every read of the buffer is checked against
/// its end.
struct JSONParser {
    private let options: JSONReadingOptions
    private let buffer: UnsafeBufferPointer<UInt8>
    /// The offset of the next byte.
    private var position = 0
    /// The values and names that were read so far.
    private var nodes: [JSONTape.Node] = []
    /// The maximum number of names in all objects together.
    private let maximumNames: Int
    /// How many more names the rest of the text may have.
    private var namesLeft: Int

    init(buffer: UnsafeBufferPointer<UInt8>, options: JSONReadingOptions = [], maximumNames: Int = .max) {
        self.buffer = buffer
        self.options = options
        self.maximumNames = maximumNames
        namesLeft = maximumNames
        // Reserve enough for most payloads of the App Store. A text of N bytes has at most N values.
        nodes.reserveCapacity(min(64, buffer.count))
    }

    /// Returns the nodes of the text's value. Throws the first error.
    mutating func parse() throws(JSONError) -> [JSONTape.Node] {
        skipBlanks()
        try parseValue(depth: 1)
        skipBlanks()
        guard position == buffer.count else { throw error("unexpected text after the value; remove it") }
        return nodes
    }

    /// Creates an error at the current position.
    private func error(_ reason: String) -> JSONError { JSONError(offset: position, reason: reason) }

    /// The next byte; at the end 0, which valid JSON doesn't contain.
    private var current: UInt8 { position < buffer.count ? buffer[position] : 0 }

    private mutating func skipBlanks() {
        while position < buffer.count {
            switch buffer[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    /// Adds a node that ends at the current position. For an object or an array, `close` sets the end later. Offsets
    /// and indexes fit into 32 bits, because the callers check the size of the text.
    private mutating func append(_ kind: JSONTape.Kind, from start: Int) {
        let next = Int32(truncatingIfNeeded: nodes.count + 1)
        nodes.append(
            JSONTape.Node(
                kind: kind, start: Int32(truncatingIfNeeded: start), end: Int32(truncatingIfNeeded: position),
                next: next))
    }

    /// Ends an object or an array at the current position, after all nodes in it were added.
    private mutating func close(_ index: Int) {
        nodes[index].end = Int32(truncatingIfNeeded: position)
        nodes[index].next = Int32(truncatingIfNeeded: nodes.count)
    }

    private mutating func parseValue(depth: Int) throws(JSONError) {
        switch current {
        case UInt8(ascii: "{"): try parseObject(depth: depth)
        case UInt8(ascii: "["): try parseArray(depth: depth)
        case UInt8(ascii: "\""): try parseString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try parseNumber()
        case UInt8(ascii: "t"): try parseWord("true", .true)
        case UInt8(ascii: "f"): try parseWord("false", .false)
        case UInt8(ascii: "n"): try parseWord("null", .null)
        default:
            if position == 0, buffer.starts(with: [0xEF, 0xBB, 0xBF]) {
                throw error("JSON must not begin with a byte order mark; save it as UTF-8 without one")
            }
            let isEnd = position >= buffer.count
            throw error(
                isEnd ? "the text ends where a value is expected" : "expected a value; text needs double quotes")
        }
    }

    private mutating func parseObject(depth: Int) throws(JSONError) {
        guard let object = try open(.object, closing: UInt8(ascii: "}"), depth: depth) else { return }
        var count = 0
        repeat {
            guard current == UInt8(ascii: "\"") else {
                let isEnd = current == UInt8(ascii: "}")
                throw error(isEnd ? "remove the comma before this `}`" : "expected a name in double quotes")
            }
            guard namesLeft > 0
            else { throw error("there are more than \(maximumNames) names; leave out fields that aren't needed") }
            namesLeft -= 1
            try parseString()
            count += 1
            skipBlanks()
            guard current == UInt8(ascii: ":") else { throw error("expected `:` after the name") }
            position += 1
            skipBlanks()
            try parseValue(depth: depth + 1)
        } while try continues(object, closing: UInt8(ascii: "}"))
        try checkNamesDiffer(in: object, count: count)
    }

    private mutating func parseArray(depth: Int) throws(JSONError) {
        guard let array = try open(.array, closing: UInt8(ascii: "]"), depth: depth) else { return }
        repeat { try parseValue(depth: depth + 1) } while try continues(array, closing: UInt8(ascii: "]"))
    }

    /// Begins an object or an array. Returns the index of its node; nil if it is empty, and so has already ended.
    @inline(__always)
    private mutating func open(_ kind: JSONTape.Kind, closing bracket: UInt8, depth: Int) throws(JSONError) -> Int? {
        guard depth <= JSONTape.maximumDepth
        else { throw error("nested deeper than \(JSONTape.maximumDepth) levels; use fewer") }
        let index = nodes.count
        append(kind, from: position)
        position += 1
        skipBlanks()
        guard current == bracket else { return index }
        position += 1
        close(index)
        return nil
    }

    /// Reads the comma before the next value of an object or an array and returns true, or ends it and returns false.
    @inline(__always) private mutating func continues(_ index: Int, closing bracket: UInt8) throws(JSONError) -> Bool {
        skipBlanks()
        let isComma = current == UInt8(ascii: ",")
        guard isComma || current == bracket
        else { throw error("expected `,` or `\(Character(Unicode.Scalar(bracket)))`") }
        position += 1
        if isComma { skipBlanks() } else { close(index) }
        return isComma
    }

    /// Reads a string or a name, and checks its escapes and its UTF-8.
    private mutating func parseString() throws(JSONError) {
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
                try JSONEscapes.skip(in: buffer, at: &position, allowsNUL: options.contains(.nul))
            case ..<0x20: throw error("a string contains a control character; write an escape such as `\\n`")
            case ..<0x80: position += 1
            default:
                let length = UTF8Sequence.length(in: buffer, at: position)
                guard length > 0 else { throw error("a string isn't valid UTF-8; encode the whole text as UTF-8") }
                position += length
            }
        }
        throw error(JSONError.unterminatedString)
    }

    /// Skips ASCII without escapes, eight bytes at a time. Most of a payload consists of names and IDs.
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

    /// Reads a number (RFC 8259, section 6). Its digits stay text.
    private mutating func parseNumber() throws(JSONError) {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") { position += 1 } else { try skipDigits() }
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

    private mutating func skipDigits() throws(JSONError) {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { position += 1 }
        guard position > start else { throw error("a number lacks digits; `-`, `.` and `e` need a digit after them") }
    }

    /// Reads `true`, `false` or `null`.
    private mutating func parseWord(_ word: StaticString, _ kind: JSONTape.Kind) throws(JSONError) {
        let start = position
        let length = word.utf8CodeUnitCount
        guard buffer.count - position >= length,
            buffer[position..<position + length].elementsEqual(
                UnsafeBufferPointer(start: word.utf8Start, count: length))
        else { throw error("expected a value; text needs double quotes") }
        position += length
        append(kind, from: start)
    }

    /// Checks that all names in an object differ. Up to 48 names are compared with each other, which allocates nothing.
    /// For more names, or names with escapes, a set is used.
    private func checkNamesDiffer(in object: Int, count: Int) throws(JSONError) {
        guard count > 1, !options.contains(.duplicateNames) else { return }
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
            // Compare bytes: a set of strings would treat canonically equivalent names as equal.
            var names: Set<[UInt8]> = []
            var name = object + 1
            for _ in 0..<count {
                guard names.insert(unescapedBytes(of: nodes[name])).inserted else { throw duplicate(nodes[name]) }
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

    /// Compares two strings without escapes.
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
            ? JSONEscapes.unescaped(Array(slice(of: node))[...]) : String(decoding: slice(of: node), as: UTF8.self)
    }

    /// Creates the error about a repeated name.
    private func duplicate(_ node: JSONTape.Node) -> JSONError {
        JSONError(offset: Int(node.start), reason: "`\(text(of: node).prefix(64))` is repeated in one object")
    }
}
