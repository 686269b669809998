package import TenureCore
import TenureJSON

/// One change to a policy file, which the linter suggests: writing a value at a path, or removing the value there.
package struct PolicyEdit: Sendable, Hashable {
    /// The keys and indexes from the top of the policy to the value, as in a `PolicyMistake`.
    package let path: [PolicyMistake.Step]
    /// The new value; nil to remove the value at the path.
    package let value: Value?
    /// If the edit writes the path of a release list, the releases in that file. Nil for all other edits.
    let releases: [ListedRelease]?

    /// A value of a policy file.
    package indirect enum Value: Sendable, Hashable {
        /// A number or word that needs no quotes.
        case plain(String)
        /// A string, in quotes.
        case text(String)
        case list([Value])
        case mapping([Entry])
    }

    /// One key of a mapping with its value.
    package struct Entry: Sendable, Hashable {
        package let key: String
        let value: Value

        package init(_ key: String, _ value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// Writes a value at a path. An existing value is replaced.
    package static func write(_ value: Value, at path: [PolicyMistake.Step]) -> PolicyEdit {
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
        PolicyEdit(path: [.key(PolicyKey.releases.rawValue)], value: .text(fileName), releases: releases)
    }
}

extension PolicyEdit.Value {
    /// Writes the honors of an entitlement (the entries under `honors`) as the reader expects them.
    package init(_ honors: [Honor]) { self.init(.array(honors.map { PolicyFile.json($0) })) }

    package init(_ entitlement: Entitlement) { self.init(PolicyFile.json(entitlement)) }

    package init(_ product: Entitlement.Product) { self.init(PolicyFile.json(product)) }

    private init(_ json: JSONValue) {
        switch json {
        case .string(let text): self = .text(text)
        case .number(let digits): self = .plain(digits)
        case .boolean(let flag): self = .plain(String(flag))
        case .null: self = .plain("null")
        case .array(let elements): self = .list(elements.map { Self($0) })
        case .object(let object): self = .mapping(object.members.map { PolicyEdit.Entry($0.name, Self($0.value)) })
        }
    }

    /// Returns the value as part of a document. All of its parts have the same position.
    fileprivate func node(at position: SourcePosition) -> DocumentNode {
        let content: DocumentNode.Content =
            switch self {
            case .plain(let text): .plain(text)
            case .text(let text): .quoted(text)
            case .list(let elements): .sequence(elements.map { $0.node(at: position) })
            case .mapping(let entries):
                .mapping(entries.map { .init(key: $0.key, keyPosition: position, value: $0.value.node(at: position)) })
            }
        return DocumentNode(content: content, position: position)
    }
}

extension DocumentNode {
    /// Returns the document with `value` written at a path. If `value` is nil, the value at the path is removed.
    ///
    /// Missing mappings are created. An index one past the end of a list appends an element. Any other path that
    /// doesn't exist changes nothing.
    func edited(at path: ArraySlice<PolicyMistake.Step>, to value: PolicyEdit.Value?) -> DocumentNode {
        guard let step = path.first else { return value?.node(at: position) ?? self }
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
