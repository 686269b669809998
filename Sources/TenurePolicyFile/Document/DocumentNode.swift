import TenureCore

/// A value of a YAML or JSON document with its position. Scalars keep their text: an unquoted `1.10` isn't converted to
/// a number.
package struct DocumentNode: Sendable {
    /// The content of a value: a scalar, a sequence or a mapping.
    package enum Content: Sendable {
        case null
        /// A scalar without quotes. In JSON, a number, `true` or `false`.
        case plain(String)
        /// A scalar in quotes.
        case quoted(String)
        case sequence([DocumentNode])
        case mapping([Entry])
    }

    /// One key of a mapping with its value.
    package struct Entry: Sendable {
        package let key: String
        /// The position at which the key begins. The value has its own position.
        package let keyPosition: SourcePosition
        let value: DocumentNode
    }

    package let content: Content
    /// The position at which the value begins.
    let position: SourcePosition

    /// The maximum depth of nested lists and mappings. It also limits the recursion of all functions on a document.
    static let maximumDepth = 64

    /// Returns a mapping with unique keys. A repeated key is reported, and its later value is left out. NUL characters
    /// are reported, too.
    static func mapping(
        _ entries: [Entry], at position: SourcePosition, reportingTo mistakes: inout [PolicyFileMistake]
    ) -> DocumentNode {
        var firstLine: [String: Int] = [:]
        var unique: [Entry] = []
        for entry in entries {
            if entry.key.unicodeScalars.contains("\0") || entry.value.holdsNUL {
                mistakes.add(
                    "the text has a NUL character, which can't be stored in the database; remove it",
                    at: entry.keyPosition)
            }
            if let line = firstLine[entry.key] {
                mistakes.add("`\(entry.key)` is written twice, first in line \(line); keep one", at: entry.keyPosition)
            } else {
                firstLine[entry.key] = entry.keyPosition.line
                unique.append(entry)
            }
        }
        return DocumentNode(content: .mapping(unique), position: position)
    }

    /// The entries of a mapping; empty for any other value.
    var entries: [Entry] { if case .mapping(let entries) = content { entries } else { [] } }

    /// Returns the value of a key; nil if the key is missing, or if this isn't a mapping.
    subscript(key: String) -> DocumentNode? { entries.first { $0.key == key }?.value }

    /// The text of a scalar, quoted or not; nil for any other value.
    package var text: String? {
        switch content {
        case .plain(let text), .quoted(let text): text
        case .null, .sequence, .mapping: nil
        }
    }

    /// Whether the value is a text with a NUL character, or a list with such a text. The texts in a mapping are
    /// reported when that mapping is created.
    private var holdsNUL: Bool {
        if case .sequence(let elements) = content { return elements.contains(where: \.holdsNUL) }
        return text?.utf8.contains(0) ?? false
    }

    var isNull: Bool { if case .null = content { true } else { false } }

    /// Returns the document with another document applied over it: mappings are merged key by key, null removes a key,
    /// and any other value replaces the old value.
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

    /// The text of a scalar in backticks, or "a list", "a mapping" or "nothing", for messages.
    package var kindInWords: String {
        switch content {
        case .null: "nothing"
        case .plain(let text), .quoted(let text): "`\(text.shortened)`"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}

extension String {
    /// The text for a message: on one line, without credentials, and shortened.
    package var shortened: String {
        // A credential may begin in the first 61 characters and end far behind these characters.
        let line = String(String(prefix(4096)).hidingCredentials.prefix(61)).map {
            $0.isNewline || $0 == "\t" ? " " : $0
        }
        return line.count > 60 ? String(line.prefix(59)) + "…" : String(line)
    }
}
