/// The kind of YAML or JSON file that a caller expects, such as a policy or policy cases. If the user passes a file of
/// another kind, the message says so, and quotes nothing from the file, which may be secret.
package struct DocumentKind: Sendable {
    /// The kind with its article for messages, such as `a policy`.
    let name: String
    /// A possible first line of a file of this kind in backticks, for messages.
    let beginning: String
    /// The keys by which a file of this kind is recognized. No file with secrets has one of these keys.
    private let keys: [String]

    package init(_ name: String, beginning: String, keys: [String]) {
        self.name = name
        self.beginning = beginning
        self.keys = keys
    }

    /// A policy file.
    package static let policy = DocumentKind(
        "a policy", beginning: "`app: { bundleID: com.example.calculator }`",
        keys: PolicyShape.policy.keys.map(\.rawValue))

    /// Whether the document has one of the keys. An empty mapping matches every kind.
    func matches(_ root: DocumentNode) -> Bool {
        if case .mapping(let entries) = root.content, entries.isEmpty { return true }
        return keys.contains { root[$0] != nil }
    }

    /// Whether a line of the text begins with one of the keys, as YAML or JSON has them. This also works if the text
    /// can't be parsed.
    func hasKey(in bytes: some Collection<UInt8>) -> Bool {
        bytes.split(separator: UInt8(ascii: "\n")).contains { line in
            let yaml = line.starts(with: "\u{FEFF}".utf8) ? line.dropFirst(3) : line
            let json = yaml.drop { " \t{".utf8.contains($0) }
            return keys.contains { yaml.starts(with: "\($0):".utf8) || json.starts(with: "\"\($0)\"".utf8) }
        }
    }

    /// Returns the message about a document that isn't of this kind.
    func objection(to root: DocumentNode) -> String {
        let look =
            switch root.content {
            case .plain(let text), .quoted(let text):
                text.hasPrefix("-----BEGIN ") ? "a key or certificate (PEM)" : "plain text"
            case .sequence: "a list"
            case .null, .mapping: "a file of another kind"
            }
        return "this looks like \(look), not like \(name); check the path, or begin the file with \(beginning)"
    }
}
