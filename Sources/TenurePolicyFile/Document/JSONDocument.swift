import TenureJSON

/// Reads JSON with the position of each value.
struct JSONDocument {
    /// The parsed JSON.
    private let tape: JSONTape
    private var positions: SourcePositions
    private var mistakes: [PolicyFileMistake] = []

    /// Parses JSON. Throws the first error of its syntax.
    ///
    /// - Returns: the document, and mistakes such as repeated keys.
    static func parse(
        _ source: SourceText
    ) throws(PolicyFileError) -> (root: DocumentNode, mistakes: [PolicyFileMistake]) {
        let bytes = Array(source.text.utf8)
        do {
            // Accept repeated keys and NUL here: `DocumentNode.mapping` reports them with their positions.
            var document = JSONDocument(
                tape: try JSONTape(bytes, options: [.duplicateNames, .nul]),
                positions: SourcePositions(bytes: bytes, fileName: source.fileName))
            return (document.node(at: document.tape.root), document.mistakes)
        } catch {
            var positions = SourcePositions(bytes: bytes, fileName: source.fileName)
            throw PolicyFileError(error.reason, at: positions.position(of: error.offset))
        }
    }

    /// Converts a value. The recursion is as deep as the document, and `JSONTape` limits that depth.
    private mutating func node(at index: Int) -> DocumentNode {
        let node = tape.nodes[index]
        let position = position(of: node)
        switch node.kind {
        // On the tape, names and values follow their object. `next` is the index after a value with all its parts.
        case .object:
            var entries: [DocumentNode.Entry] = []
            var name = index + 1
            while name + 1 < Int(node.next) {
                let key = tape.string(at: name) ?? ""
                let keyPosition = self.position(of: tape.nodes[name])
                let value = self.node(at: name + 1)
                entries.append(DocumentNode.Entry(key: key, keyPosition: keyPosition, value: value))
                name = Int(tape.nodes[name + 1].next)
            }
            return DocumentNode.mapping(entries, at: position, reportingTo: &mistakes)
        case .array:
            var elements: [DocumentNode] = []
            var element = index + 1
            while element < Int(node.next) {
                elements.append(self.node(at: element))
                element = Int(tape.nodes[element].next)
            }
            return DocumentNode(content: .sequence(elements), position: position)
        case .string, .escapedString:
            return DocumentNode(content: .quoted(tape.string(at: index) ?? ""), position: position)
        case .number, .true, .false:
            let text = tape.withText(at: index) { String(decoding: $0, as: UTF8.self) }
            return DocumentNode(content: .plain(text), position: position)
        case .null: return DocumentNode(content: .null, position: position)
        }
    }

    /// Returns the position of a value. A string begins at its quote.
    private mutating func position(of node: JSONTape.Node) -> SourcePosition {
        let isString = node.kind == .string || node.kind == .escapedString
        return positions.position(of: Int(node.start) - (isString ? 1 : 0))
    }

    /// Whether the text is a JSON number.
    static func isNumber(_ text: String) -> Bool {
        if case .number? = try? JSONValue(parsing: Array(text.utf8)) { true } else { false }
    }
}

/// Converts byte offsets to lines and columns. The offsets must be passed in ascending order.
private struct SourcePositions {
    let bytes: [UInt8]
    let fileName: String
    /// The last offset, with its line and column.
    var offset = 0
    var line = 1
    var column = 1

    mutating func position(of target: Int) -> SourcePosition {
        while offset < min(target, bytes.count) {
            if bytes[offset] == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if bytes[offset] & 0xC0 != 0x80 {
                // A byte that isn't a continuation byte begins a new character.
                column += 1
            }
            offset += 1
        }
        return SourcePosition(file: fileName, line: line, column: column)
    }
}
