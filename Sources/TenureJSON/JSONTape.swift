import Foundation

/// A parsed JSON text, with values that are decoded on demand: the text's bytes, and the offset of each value. The type
/// is called a tape, because the values of all levels are in one array, in the order of the text.
///
/// The parser is stricter than RFC 8259. It rejects NUL, invalid UTF-8, unpaired surrogates, text before or after the
/// value, and more than 64 levels. It also rejects a name that an object has twice, because one parser may use the
/// first of the two values, and another parser the second.
package struct JSONTape: Sendable, Hashable {
    static let maximumDepth = 64

    /// The kind of a node. A string with escapes must be decoded; all other text can be used as it is.
    package enum Kind: UInt8, Sendable { case object, array, string, escapedString, number, `true`, `false`, null }

    /// One value, or one name in an object. After the node of an object, its names and values follow alternately. For
    /// example, `{"a":[1]}` has four nodes: the object, the name `a`, the array and the number.
    package struct Node: Sendable, Hashable {
        package let kind: Kind
        /// The offset of the first byte, after the quote of a string.
        package let start: Int32
        /// The offset after the last byte, before the quote of a string.
        package internal(set) var end: Int32
        /// The index of the next node that isn't inside this node.
        package internal(set) var next: Int32
    }

    /// The whole text.
    package let bytes: [UInt8]
    /// The values and names, in the order of the text.
    package let nodes: [Node]

    /// Parses a whole text.
    package init(_ bytes: [UInt8], options: JSONReadingOptions = []) throws(JSONError) {
        guard bytes.count < Int32.max else { throw JSONError.tooLarge(bytes.count) }
        self.bytes = bytes
        nodes = try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in
            var parser = JSONParser(buffer: buffer, options: options)
            return try parser.parse()
        }
    }

    /// The JSON text `{}`.
    package static let emptyObject = JSONTape(
        parsed: Array("{}".utf8), nodes: [Node(kind: .object, start: 0, end: 2, next: 1)])

    private init(parsed bytes: [UInt8], nodes: [Node]) {
        self.bytes = bytes
        self.nodes = nodes
    }

    /// The index of the node of the whole text.
    package var root: Int { 0 }

    /// Returns the text of a string node; nil for another kind.
    package func string(at index: Int) -> String? {
        guard index < nodes.count else { return nil }
        let node = nodes[index]
        switch node.kind {
        case .string: return withText(at: index) { String(decoding: $0, as: UTF8.self) }
        case .escapedString: return JSONEscapes.unescaped(bytes[Int(node.start)..<Int(node.end)])
        default: return nil
        }
    }

    /// Calls `body` with the bytes of a node as written. This is faster than a slice, which would retain the array.
    @inlinable package func withText<Value>(at index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        bytes.withUnsafeBufferPointer { buffer in
            guard index < nodes.count else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
            return body(UnsafeBufferPointer(rebasing: buffer[Int(nodes[index].start)..<Int(nodes[index].end)]))
        }
    }

    /// Returns the index of the value under `name` in the object at `index`; nil if there is no such value.
    package func value(named name: StaticString, inObjectAt index: Int) -> Int? {
        guard name.hasPointerRepresentation else { return nil }
        let length = name.utf8CodeUnitCount
        return bytes.withUnsafeBytes { bytes in
            member(ofObjectAt: index) { member, node in
                if node.kind == .escapedString { return escapedName(at: member, is: name) }
                guard Int(node.end &- node.start) == length, let base = bytes.baseAddress else { return false }
                return memcmp(base + Int(node.start), name.utf8Start, length) == 0
            }
        }
    }

    /// Whether the object at `index` has a name of `length` bytes, or a name with escapes. If false, the object has no
    /// name of this length, so a caller doesn't have to look for one.
    package func mayHaveName(ofLength length: Int, inObjectAt index: Int) -> Bool {
        member(ofObjectAt: index) { $1.kind == .escapedString || Int($1.end &- $1.start) == length } != nil
    }

    /// Returns the index of the value of the first member for which `matches` returns true. `matches` gets the index
    /// and the node of the member's name. Returns nil if no name matches, or if `index` isn't an object.
    ///
    /// The parser guarantees that `next` is the index of a node or the end, and that nodes are within the bytes.
    @inline(__always) private func member(ofObjectAt index: Int, where matches: (Int, Node) -> Bool) -> Int? {
        guard index < nodes.count, nodes[index].kind == .object else { return nil }
        return nodes.withUnsafeBufferPointer { nodes in
            let end = Int(nodes[index].next)
            var member = index + 1
            while member + 1 < end {
                if matches(member, nodes[member]) { return member + 1 }
                member = Int(nodes[member + 1].next)
            }
            return nil
        }
    }

    /// Returns the indexes of the member values of the object at `index` that are objects themselves.
    package func objects(inObjectAt index: Int) -> [Int] {
        guard index < nodes.count, nodes[index].kind == .object else { return [] }
        var objects: [Int] = []
        var member = index + 1
        while member + 1 < Int(nodes[index].next) {
            if nodes[member + 1].kind == .object { objects.append(member + 1) }
            member = Int(nodes[member + 1].next)
        }
        return objects
    }

    /// Whether the name at `index`, which has escapes, is `name` after decoding.
    private func escapedName(at index: Int, is name: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return string(at: index).map { $0.utf8.elementsEqual(wanted) } ?? false
    }
}
