/// A place in a file, counted from 1; columns in Unicode scalars.
package struct SourcePosition: Sendable, Hashable {
    package let file: String
    package let line: Int
    package let column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }
}

/// A value of a YAML or JSON document with its place. Scalars keep their text: an unquoted `1.10` is never a number.
package struct DocumentNode: Sendable {
    package enum Content: Sendable {
        case null
        /// Without quotes: in JSON a number, `true` or `false`.
        case plain(String)
        case quoted(String)
        case sequence([DocumentNode])
        case mapping([Entry])
    }

    package struct Entry: Sendable {
        package let key: String
        package let keyPosition: SourcePosition
        let value: DocumentNode
    }

    package let content: Content
    let position: SourcePosition

    /// Deeper than this no file of ours goes; it bounds every recursion over a document.
    static let maximumDepth = 64

    /// Returns a mapping with unique keys. A repeated key is reported, and its later value is left out.
    static func mapping(
        _ entries: [Entry], at position: SourcePosition, reportingTo mistakes: inout [PolicyFileMistake]
    ) -> DocumentNode {
        var firstLine: [String: Int] = [:]
        var unique: [Entry] = []
        for entry in entries {
            if entry.key.unicodeScalars.contains("\0") || entry.value.holdsNUL {
                mistakes.append(
                    PolicyFileMistake("a text holds a NUL, which no database stores; remove it", at: entry.keyPosition))
            }
            if let line = firstLine[entry.key] {
                mistakes.append(
                    PolicyFileMistake(
                        "`\(entry.key)` is written twice, first in line \(line); keep one", at: entry.keyPosition))
            } else {
                firstLine[entry.key] = entry.keyPosition.line
                unique.append(entry)
            }
        }
        return DocumentNode(content: .mapping(unique), position: position)
    }

    subscript(key: String) -> DocumentNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// The text of a scalar, quoted or not.
    package var text: String? {
        switch content {
        case .plain(let text), .quoted(let text): text
        case .null, .sequence, .mapping: nil
        }
    }

    /// Whether it is a text with a NUL, or a list with one.
    private var holdsNUL: Bool {
        switch content {
        case .plain(let text), .quoted(let text): text.utf8.contains(0)
        case .sequence(let elements): elements.contains(where: \.holdsNUL)
        case .null, .mapping: false
        }
    }

    var isNull: Bool {
        if case .null = content { true } else { false }
    }

    /// The document with another one laid over it: mappings merge key by key, null removes, anything else replaces.
    func overlaid(with other: DocumentNode) -> DocumentNode {
        guard case .mapping(let mine) = content, case .mapping(let others) = other.content else { return other }
        var result = mine
        for entry in others {
            let index = result.firstIndex { $0.key == entry.key }
            switch (index, entry.value.isNull) {
            case (let index?, true): result.remove(at: index)
            case (let index?, false):
                result[index] = Entry(
                    key: entry.key, keyPosition: entry.keyPosition,
                    value: result[index].value.overlaid(with: entry.value))
            case (nil, true): break
            case (nil, false): result.append(entry)
            }
        }
        return DocumentNode(content: .mapping(result), position: position)
    }

    /// What the value is, for messages.
    package var kindInWords: String {
        switch content {
        case .null: "nothing"
        case .plain(let text), .quoted(let text): "`\(text.shortened)`"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}

extension PolicyFileMistake {
    init(_ message: String, at position: SourcePosition, code: String = "mistake") {
        self.init(file: position.file, line: position.line, column: position.column, message: message, code: code)
    }
}

extension String {
    /// For messages: of a long text its beginning, and in one line.
    package var shortened: String {
        let line = String(prefix(61)).map { $0.isNewline || $0 == "\t" ? " " : $0 }
        return line.count > 60 ? String(line.prefix(59)) + "…" : String(line)
    }
}
