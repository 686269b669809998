package import TenureCore
package import TenureJSON

/// One change to a policy file, which the linter suggests: writing a value at a path, or removing the value there.
package struct PolicyEdit: Sendable, Hashable {
    /// The keys and indexes from the top of the policy to the value, as in a `PolicyMistake`.
    package let path: [PolicyMistake.Step]
    /// The new value; nil to remove the value at the path.
    package let value: JSONValue?
    /// If the edit writes the path of a release list, the releases in that file. Nil for all other edits.
    let releases: [ListedRelease]?

    /// Writes a value at a path. An existing value is replaced.
    package static func write(_ value: JSONValue, at path: [PolicyMistake.Step]) -> PolicyEdit {
        PolicyEdit(path: path, value: value, releases: nil)
    }

    /// Removes the entry or element at a path.
    package static func remove(_ path: [PolicyMistake.Step]) -> PolicyEdit {
        PolicyEdit(path: path, value: nil, releases: nil)
    }

    /// Writes the path of a release list (a CSV file) as the policy's `releases`.
    ///
    /// - Parameter releases: the contents of the file.
    package static func use(_ releases: [ListedRelease], named fileName: String) -> PolicyEdit {
        PolicyEdit(path: [.key(PolicyKey.releases.rawValue)], value: .string(fileName), releases: releases)
    }

    /// Ignores `releases`, because `value` already names the file of the list.
    package static func == (left: PolicyEdit, right: PolicyEdit) -> Bool {
        left.path == right.path && left.value == right.value
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(value)
    }
}

extension DocumentNode {
    /// Converts a JSON value. All of its parts have the same position.
    private init(_ json: JSONValue, at position: SourcePosition) {
        let content: Content =
            switch json {
            case .string(let text): .quoted(text)
            case .number(let digits): .plain(digits)
            case .boolean(let flag): .plain(String(flag))
            case .null: .null
            case .array(let elements): .sequence(elements.map { DocumentNode($0, at: position) })
            case .object(let object):
                .mapping(
                    object.members.map {
                        Entry(key: $0.name, keyPosition: position, value: DocumentNode($0.value, at: position))
                    })
            }
        self.init(content: content, position: position)
    }

    /// Returns the document with `value` written at a path. If `value` is nil, the value at the path is removed.
    ///
    /// Missing mappings and lists are created. An index one past the end of a list appends an element. With any other
    /// path that doesn't exist, no value is written.
    func edited(at path: ArraySlice<PolicyMistake.Step>, to value: JSONValue?) -> DocumentNode {
        guard let step = path.first else { return value.map { DocumentNode($0, at: position) } ?? self }
        let rest = path.dropFirst()
        let empty = DocumentNode(content: .null, position: position)
        switch (step, content) {
        case (.key(let key), .mapping(var entries)):
            if let index = entries.firstIndex(where: { $0.key == key }) {
                if rest.isEmpty, value == nil {
                    entries.remove(at: index)
                } else {
                    entries[index] = Entry(
                        key: key, keyPosition: entries[index].keyPosition,
                        value: entries[index].value.edited(at: rest, to: value))
                }
            } else if value != nil {
                entries.append(Entry(key: key, keyPosition: position, value: empty.edited(at: rest, to: value)))
            }
            return DocumentNode(content: .mapping(entries), position: position)
        case (.index(let index), .sequence(var elements)):
            if elements.indices.contains(index) {
                if rest.isEmpty, value == nil {
                    elements.remove(at: index)
                } else {
                    elements[index] = elements[index].edited(at: rest, to: value)
                }
            } else if index == elements.count, value != nil {
                elements.append(empty.edited(at: rest, to: value))
            }
            return DocumentNode(content: .sequence(elements), position: position)
        case (.key, .null) where value != nil:
            return DocumentNode(content: .mapping([]), position: position).edited(at: path, to: value)
        case (.index(0), .null) where value != nil:
            return DocumentNode(content: .sequence([]), position: position).edited(at: path, to: value)
        default: return self
        }
    }
}
