package import TenureCore

/// Collects the mistakes in a document while it is read.
///
/// A part that can't be read is left out of the result, and its path is remembered. So mistakes that are only
/// consequences of the missing part needn't be reported.
package struct Reading: Sendable {
    /// The keys and indexes from the top of a document to a value in it.
    package typealias Path = [PolicyMistake.Step]

    /// The mistakes in the order in which they were found.
    package private(set) var mistakes: [PolicyFileMistake] = []
    /// The paths of the parts that were left out.
    private var brokenParts: [Path] = []

    /// - Parameter mistakes: mistakes that were already found when the document was parsed.
    package init(mistakes: [PolicyFileMistake] = []) { self.mistakes = mistakes }

    /// Adds a mistake.
    ///
    /// - Parameters:
    ///   - path: the path of the part that is left out because of the mistake; nil if no part is left out.
    ///   - code: the code of the linter rule that describes the mistake, or `mistake`.
    package mutating func report(
        _ message: String, at position: SourcePosition, breaking path: Path? = nil, code: String = "mistake"
    ) {
        mistakes.append(PolicyFileMistake(message, at: position, code: code))
        if let path { brokenParts.append(path) }
    }

    /// Adds the mistakes in another file, to which the part at this path refers. If there are any, that part is left
    /// out.
    mutating func add(_ fileMistakes: [PolicyFileMistake], breaking path: Path) {
        mistakes += fileMistakes
        if !fileMistakes.isEmpty { brokenParts.append(path) }
    }

    /// Whether something at, inside or around the path was left out.
    func isBroken(_ path: Path) -> Bool { brokenParts.contains { $0.starts(with: path) || path.starts(with: $0) } }

    /// Whether exactly the part at this path was left out.
    package func isOmitted(_ path: Path) -> Bool { brokenParts.contains(path) }

    /// Returns all mistakes as an error: without repetitions, in the order of the text, and those in the main file
    /// first.
    package func error(mainFile: String) -> PolicyFileError {
        var seen: Set<PolicyFileMistake> = []
        let unique = mistakes.filter { seen.insert($0).inserted }
        // Mistakes at one position keep the order in which they were found, because the sort is stable.
        return PolicyFileError(
            mistakes: unique.sorted {
                $0.position.order(mainFile: mainFile) < $1.position.order(mainFile: mainFile)
            })
    }
}

/// A value of a document, with its path.
package struct Part: Sendable {
    package let node: DocumentNode
    /// The keys and indexes from the top of the document to the value.
    package let path: Reading.Path
    /// The position for a mistake about the whole value: the position of its key, if the value is on separate lines.
    package let position: SourcePosition

    package init(root node: DocumentNode) {
        self.node = node
        path = []
        position = node.position
    }

    private init(_ node: DocumentNode, _ path: Reading.Path, _ position: SourcePosition) {
        self.node = node
        self.path = path
        self.position = position
    }

    /// Creates the part for the value of a key.
    ///
    /// - Parameter path: the path of the mapping that has the key.
    package init(_ entry: DocumentNode.Entry, under path: Reading.Path) {
        let isScalar = entry.value.text != nil
        self.init(entry.value, path + [.key(entry.key)], isScalar ? entry.value.position : entry.keyPosition)
    }

    /// Returns the elements of a list. For any other value, reports a mistake and returns nil.
    package func elements(_ reading: inout Reading, example: String) -> [Part]? {
        guard case .sequence(let nodes) = node.content else {
            reading.report("\(node.kindInWords) isn't a list; write `\(example)`", at: position, breaking: path)
            return nil
        }
        return nodes.enumerated().map { Part($0.element, path + [.index($0.offset)], $0.element.position) }
    }

    /// Returns the position of the value at a path. If there is no such value, returns the position of the smallest
    /// value around it.
    ///
    /// - Parameter path: the path, beginning at this part.
    func position(of path: Reading.Path) -> SourcePosition {
        guard let step = path.first else { return position }
        let next: Part? =
            switch (step, node.content) {
            case (.key(let key), .mapping(let entries)):
                entries.first { $0.key == key }.map { Part($0, under: self.path) }
            case (.index(let index), .sequence(let nodes)) where nodes.indices.contains(index):
                Part(nodes[index], self.path + [step], nodes[index].position)
            default: nil
            }
        return next?.position(of: Array(path.dropFirst())) ?? position
    }
}

/// The values of a mapping, by key. The initializers report unknown keys and missing required keys as mistakes.
package struct Fields {
    /// The values by key. Keys that are unknown or have no value are left out.
    private let parts: [String: Part]
    /// The mapping itself.
    package let whole: Part

    /// Reads a mapping of a policy. For any other value, reports a mistake and returns nil.
    init?(_ part: Part, _ shape: PolicyShape, _ reading: inout Reading) {
        self.init(
            part, keys: shape.keys.map(\.rawValue), required: shape.required.map { ($0.key.rawValue, $0.example) },
            &reading)
    }

    /// Reads a mapping. For any other value, reports a mistake and returns nil.
    ///
    /// - Parameters:
    ///   - keys: the keys that the mapping may have.
    ///   - required: the keys that the mapping must have, each with an example for the message.
    ///   - explained: messages about certain unknown keys, by key. Other unknown keys get a general message.
    ///   - code: the code of the linter rule that describes the mistakes in `explained`.
    package init?(
        _ part: Part, keys: [String], required: [(key: String, example: String)] = [],
        explained: [String: String] = [:], code: String = "mistake", _ reading: inout Reading
    ) {
        guard case .mapping(let entries) = part.node.content else {
            let example = required.first?.example ?? keys.first.map { "\($0): …" } ?? "key: …"
            reading.report(
                "\(part.node.kindInWords) isn't possible here; write keys and values, such as `\(example)`",
                at: part.position, breaking: part.path)
            return nil
        }
        var parts: [String: Part] = [:]
        for entry in entries {
            if keys.contains(entry.key) {
                let field = Part(entry, under: part.path)
                if entry.value.isNull {
                    reading.report(
                        "`\(entry.key)` has no value; write one, or remove the line", at: entry.keyPosition,
                        breaking: field.path)
                } else {
                    parts[entry.key] = field
                }
            } else {
                let advice =
                    explained[entry.key]
                    ?? "`\(entry.key.shortened)` is unknown here; \(Spelling.advice(for: entry.key, among: keys))"
                // The unknown key may be a misspelled required key, so don't also report a missing key.
                let intendedPath = Spelling.nearest(to: entry.key, among: keys).map { part.path + [.key($0)] }
                reading.report(
                    advice, at: entry.keyPosition, breaking: intendedPath ?? part.path + [.key(entry.key)],
                    code: explained[entry.key] == nil ? "mistake" : code)
            }
        }
        self.parts = parts
        whole = part
        for (key, example) in required where parts[key] == nil {
            let path = part.path + [.key(key)]
            if reading.isOmitted(path) { continue }
            reading.report("`\(key)` is missing; write `\(example)`", at: part.position, breaking: path)
        }
    }

    /// Returns the value of a key; nil if the key is missing or has no value.
    subscript(key: PolicyKey) -> Part? { parts[key.rawValue] }
    /// Returns the value of a key; nil if the key is missing or has no value.
    package subscript(key: String) -> Part? { parts[key] }
}
