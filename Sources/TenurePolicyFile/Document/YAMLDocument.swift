// Only the service and the `tenure` command read YAML. Apps read compiled policies, which are JSON.
#if Service
    import Foundation
    import Yams

    /// Reads YAML with the position of every value.
    ///
    /// A policy needs no anchors, aliases or tags. Such parts are rejected, so that a small file can't expand to a huge
    /// document.
    struct YAMLDocument {
        private let source: SourceText
        /// The lines of the text, in which repeated keys are altered.
        private var lines: [String.UnicodeScalarView]
        /// The original text of each key that was altered in `lines`, by its position. The first occurrence of a
        /// repeated key is altered so that parsing can continue.
        private var alteredKeys: [SourcePosition: String] = [:]
        private var mistakes: [PolicyFileMistake] = []

        /// The maximum number of repeated keys that are reported at once. The number is lower for large files, because
        /// the file is parsed again for each repeated key.
        private var maximumRepeats: Int { min(50, (1 << 19) / max(1, source.text.utf8.count)) }

        /// - Returns: the document (nil if the file is empty), and mistakes such as repeated keys and tags.
        static func parse(
            _ source: SourceText
        ) throws(PolicyFileError) -> (root: DocumentNode?, mistakes: [PolicyFileMistake]) {
            var document = YAMLDocument(source)
            if let anchor = document.firstAnchor {
                throw PolicyFileError(
                    "anchors (`&name`) and aliases (`*name`) can't be used here; write the value itself instead of an alias",
                    at: anchor)
            }
            guard let root = try document.compose() else { return (nil, []) }
            return (try document.convert(root, depth: 0), document.mistakes)
        }

        private init(_ source: SourceText) {
            self.source = source
            lines = source.text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
                .map { String.UnicodeScalarView($0) }
        }

        /// Returns the position with the name of the file. It is always within the text.
        private func position(line: Int, column: Int) -> SourcePosition {
            // An error at the end of the text is reported in the last line.
            line > lines.count
                ? SourcePosition(file: source.fileName, line: lines.count, column: (lines.last?.count ?? 0) + 1)
                : SourcePosition(file: source.fileName, line: max(1, line), column: max(1, column))
        }

        /// Converts a position of Yams, the YAML parser. The result is the first line if Yams has no position.
        private func position(_ mark: Mark?) -> SourcePosition {
            position(line: mark?.line ?? 1, column: mark?.column ?? 1)
        }

        /// The position of the first `&` that may begin an anchor, which isn't allowed in a policy; nil if no `&` may
        /// begin one.
        ///
        /// Anchors must be found before Yams composes the document, because Yams would hash keys with everything that
        /// their aliases expand to. This isn't a complete scanner: anything that looks like an anchor is treated as an
        /// anchor. In a line without quotes, everything after ` #` is ignored. It is a comment, or content of a block
        /// scalar, and neither can contain an anchor.
        private var firstAnchor: SourcePosition? {
            guard source.text.utf8.contains(UInt8(ascii: "&")) else { return nil }
            for (number, line) in lines.enumerated() {
                let hasQuotes = line.contains("\"") || line.contains("'")
                var previous: Unicode.Scalar = " "
                for (column, (scalar, next)) in zip(line, line.dropFirst()).enumerated() {
                    if scalar == "#", !hasQuotes, previous == " " || previous == "\t" { break }
                    if scalar == "&", Self.canPrecedeAnchor(previous), Self.canBeginAnchor(next) {
                        return position(line: number + 1, column: column + 1)
                    }
                    previous = scalar
                }
            }
            return nil
        }

        private static func canPrecedeAnchor(_ scalar: Unicode.Scalar) -> Bool {
            !scalar.isASCII || " \t[{,:-?\"'!".unicodeScalars.contains(scalar)
        }

        private static func canBeginAnchor(_ scalar: Unicode.Scalar) -> Bool {
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789_-".unicodeScalars.contains(scalar))
        }

        /// Composes the document. Yams stops at the first mapping with a repeated key, and reports the key's first
        /// occurrence. To find all repeated keys, this alters the text of that occurrence and composes the document
        /// again.
        private mutating func compose() throws(PolicyFileError) -> Node? {
            while true {
                let text = lines.map { String($0) }.joined(separator: "\n")
                do {
                    return try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
                } catch let error as YamlError {
                    guard case .duplicatedKeysInMapping(let duplicates, let context) = error else {
                        throw failure(for: error)
                    }
                    let place = position(context.mark)
                    guard let key = duplicates.first, alteredKeys.count < maximumRepeats, alterKey(at: place, key)
                    else { throw PolicyFileError("a key of this mapping is written twice; keep one", at: place) }
                } catch {
                    throw PolicyFileError("the file can't be read; check that it is YAML", at: position(nil))
                }
            }
        }

        /// Replaces the first character of a key with one of the private use area, so that columns don't change.
        /// Returns false, and changes nothing, if the key can't be found in the text.
        private mutating func alterKey(at place: SourcePosition, _ key: String) -> Bool {
            guard alteredKeys[place] == nil, lines.indices.contains(place.line - 1),
                let substitute = Unicode.Scalar(0xF0000 + UInt32(alteredKeys.count))
            else { return false }
            var line = lines[place.line - 1]
            guard
                var index = line.index(line.startIndex, offsetBy: place.column - 1, limitedBy: line.endIndex),
                index < line.endIndex
            else { return false }
            if line[index] == "\"" || line[index] == "'" { line.formIndex(after: &index) }
            guard index < line.endIndex, !"\"'!&*?".unicodeScalars.contains(line[index]) else { return false }
            line.replaceSubrange(index...index, with: [substitute])
            lines[place.line - 1] = line
            alteredKeys[place] = key
            return true
        }

        /// Turns an error of Yams into a mistake with its position and a fix.
        private func failure(for error: YamlError) -> PolicyFileError {
            switch error {
            case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _):
                // The position is always within the text.
                let place = position(mark)
                if lines[place.line - 1].dropFirst(place.column - 1).first == "\t" {
                    return PolicyFileError("a tab can't indent YAML; use spaces", at: place)
                }
                let description = [problem, context?.text].compactMap { $0 }.joined(separator: " ")
                return PolicyFileError(
                    "this isn't YAML (\(description)); check the indentation, brackets and quotes before this place",
                    at: place)
            case .composer(_, let problem, let mark, _):
                return PolicyFileError(
                    problem.contains("alias")
                        ? "anchors (`&name`) and aliases (`*name`) can't be used here; put a string that begins with `*` in quotes"
                        : "a second document begins here; keep only one in a file", at: position(mark))
            case .reader(let problem, _, _, _):
                return PolicyFileError("this isn't YAML (\(problem))", at: position(nil))
            default:
                return PolicyFileError(
                    "this isn't YAML, or is nested too deeply; check its brackets", at: position(nil))
            }
        }

        /// Converts a value of Yams, and all values in it.
        private mutating func convert(_ node: Node, depth: Int) throws(PolicyFileError) -> DocumentNode {
            let place = position(node.mark)
            guard depth < DocumentNode.maximumDepth else {
                throw PolicyFileError(
                    "this is nested deeper than \(DocumentNode.maximumDepth) levels, which no file needs; remove levels",
                    at: place)
            }
            switch node {
            case .scalar(let scalar):
                return DocumentNode(content: content(of: scalar), position: place)
            case .sequence(let sequence):
                var elements: [DocumentNode] = []
                for element in sequence { elements.append(try convert(element, depth: depth + 1)) }
                return DocumentNode(content: .sequence(elements), position: place)
            case .mapping(let mapping):
                var entries: [DocumentNode.Entry] = []
                for (key, value) in mapping {
                    let keyPlace = position(key.mark)
                    let value = try convert(value, depth: depth + 1)
                    guard case .scalar(let scalar) = key else {
                        mistakes.add("a key must be plain text, not a list or a mapping", at: keyPlace)
                        continue
                    }
                    let text = alteredKeys[keyPlace] ?? scalar.string
                    entries.append(DocumentNode.Entry(key: text, keyPosition: keyPlace, value: value))
                }
                return DocumentNode.mapping(entries, at: place, reportingTo: &mistakes)
            case .alias:
                throw PolicyFileError("aliases (`*name`) can't be used here; write the value itself", at: place)
            }
        }

        /// Returns the content of a scalar, which isn't converted to a number or a Boolean.
        private mutating func content(of scalar: Node.Scalar) -> DocumentNode.Content {
            guard scalar.style == .plain else { return .quoted(scalar.string) }
            switch scalar.tag.description {
            case "", "!":
                return ["", "~", "null", "Null", "NULL"].contains(scalar.string) ? .null : .plain(scalar.string)
            case "tag:yaml.org,2002:str":
                return .quoted(scalar.string)
            case let tag:
                mistakes.add(
                    "YAML tags such as `\(tag.shortened)` can't be used; remove the tag", at: position(scalar.mark))
                return .plain(scalar.string)
            }
        }
    }
#endif
