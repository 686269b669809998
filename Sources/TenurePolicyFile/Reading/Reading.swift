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
