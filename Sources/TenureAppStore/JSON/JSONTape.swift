import Foundation

/// A JSON text, checked as a whole and read on demand: the bytes, and where each value stands in them.
///
/// Strict as RFC 8259 and stricter: no duplicate names in an object (two readers could disagree on which counts), no
/// invalid UTF-8, no unpaired surrogates, nothing before or after, at most 64 levels.
struct JSONTape: Sendable, Hashable {
    static let maximumDepth = 64

    enum Kind: UInt8, Sendable {
        case object, array, string, escapedString, number, `true`, `false`, null
    }

    /// One value, or one name in an object. Names and values alternate behind their object.
    struct Node: Sendable, Hashable {
        let kind: Kind
        /// In the bytes; without the quotes of a string.
        let start: Int32
        var end: Int32
        /// The node behind this one and all that it contains.
        var next: Int32
    }

    let bytes: [UInt8]
    let nodes: [Node]

    /// Throws `malformed` with the position of the first mistake.
    init(_ bytes: [UInt8]) throws(Rejection) {
        guard bytes.count < Int32.max else { throw Rejection(.tooLarge, "the JSON has \(bytes.count) bytes") }
        let parsed = bytes.withUnsafeBufferPointer { buffer in
            var parser = JSONParser(buffer: buffer)
            return parser.parse()
        }
        switch parsed {
        case .success(let nodes):
            self.bytes = bytes
            self.nodes = nodes
        case .failure(let mistake):
            throw Rejection(.malformed, "the JSON is invalid at byte \(mistake.position): \(mistake.reason)")
        }
    }

    var root: Int { 0 }

    /// The text of a string node; nil for another kind.
    func string(at index: Int) -> String? {
        guard index < nodes.count else { return nil }
        let node = nodes[index]
        switch node.kind {
        case .string: return withText(at: index) { String(decoding: $0, as: UTF8.self) }
        case .escapedString: return JSONEscapes.unescaped(bytes[Int(node.start)..<Int(node.end)])
        default: return nil
        }
    }

    /// Reads the bytes of a node as they were written, without a slice of them, which would count as one more owner.
    func withText<Value>(at index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        bytes.withUnsafeBufferPointer { buffer in
            guard index < nodes.count else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
            return body(UnsafeBufferPointer(rebasing: buffer[Int(nodes[index].start)..<Int(nodes[index].end)]))
        }
    }

    /// The value under `name` in the object at `index`.
    func value(named name: StaticString, inObjectAt index: Int) -> Int? {
        guard name.hasPointerRepresentation else { return nil }
        let length = name.utf8CodeUnitCount
        return bytes.withUnsafeBytes { bytes in
            member(ofObjectAt: index) { member, node in
                if node.kind == .escapedString { return isEscaped(member, name) }
                guard Int(node.end &- node.start) == length, let base = bytes.baseAddress else { return false }
                return memcmp(base + Int(node.start), name.utf8Start, length) == 0
            }
        }
    }

    /// Whether a name of so many bytes, or one with escapes, stands in the object at `index`.
    func mayHaveName(ofLength length: Int, inObjectAt index: Int) -> Bool {
        member(ofObjectAt: index) { _, node in
            node.kind == .escapedString || Int(node.end &- node.start) == length
        } != nil
    }

    /// The value of the first member whose name is the one; nil where the object has none, or it is no object.
    ///
    /// Most questions of a payload are asked here. The parser saw to it that nodes lead to nodes and lie in the bytes.
    @inline(__always)
    private func member(ofObjectAt index: Int, where isTheOne: (Int, Node) -> Bool) -> Int? {
        guard index < nodes.count, nodes[index].kind == .object else { return nil }
        return nodes.withUnsafeBufferPointer { nodes in
            let end = Int(nodes[index].next)
            var member = index + 1
            while member + 1 < end {
                if isTheOne(member, nodes[member]) { return member + 1 }
                member = Int(nodes[member + 1].next)
            }
            return nil
        }
    }

    /// The members of the object at `index` that are objects themselves; none where it is no object.
    func objects(inObjectAt index: Int) -> [Int] {
        guard index < nodes.count, nodes[index].kind == .object else { return [] }
        var objects: [Int] = []
        var member = index + 1
        while member + 1 < Int(nodes[index].next) {
            if nodes[member + 1].kind == .object { objects.append(member + 1) }
            member = Int(nodes[member + 1].next)
        }
        return objects
    }

    private func isEscaped(_ index: Int, _ name: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return string(at: index).map { $0.utf8.elementsEqual(wanted) } ?? false
    }
}
