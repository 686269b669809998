/// Reads JSON (RFC 8259) with the place of every value. YAML is nearly a superset of it, but only nearly: surrogate
/// pairs in escapes, long keys and tabs are JSON that a YAML parser refuses.
struct JSONDocument {
    private let fileName: String
    private var rest: Substring.UnicodeScalarView
    private var line = 1
    private var column = 1
    private var mistakes: [PolicyFileMistake] = []

    /// - Returns: the document, and the keys that stand twice.
    static func parse(
        _ source: SourceText
    ) throws(PolicyFileError) -> (root: DocumentNode, mistakes: [PolicyFileMistake]) {
        var parser = JSONDocument(source)
        parser.skipBlanks()
        let root = try parser.value(depth: 0)
        parser.skipBlanks()
        if parser.rest.first != nil { throw parser.failure("the JSON value has ended; remove what follows it") }
        return (root, parser.mistakes)
    }

    private init(_ source: SourceText) {
        fileName = source.fileName
        rest = source.text[...].unicodeScalars
    }

    private var position: SourcePosition { SourcePosition(file: fileName, line: line, column: column) }

    private func failure(_ message: String) -> PolicyFileError {
        PolicyFileError(mistakes: [PolicyFileMistake(message, at: position)])
    }

    private func unexpected(insteadOf wanted: String) -> PolicyFileError {
        failure((rest.first.map { "`\($0)`" } ?? "the end of the file") + " cannot stand here; write \(wanted)")
    }

    @discardableResult
    private mutating func advance() -> Unicode.Scalar? {
        guard let scalar = rest.popFirst() else { return nil }
        if scalar == "\n" {
            line += 1
            column = 1
        } else {
            column += 1
        }
        return scalar
    }

    private mutating func skipBlanks() {
        while let scalar = rest.first, scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r" { advance() }
    }

    private mutating func value(depth: Int) throws(PolicyFileError) -> DocumentNode {
        guard depth < DocumentNode.maximumDepth else {
            throw failure("this is nested deeper than \(DocumentNode.maximumDepth) levels; a policy is flatter")
        }
        let start = position
        switch rest.first {
        case "{":
            let entries = try entries(depth: depth)
            return DocumentNode.mapping(entries, at: start, reportingTo: &mistakes)
        case "[":
            return DocumentNode(content: .sequence(try elements(depth: depth)), position: start)
        case "\"":
            return DocumentNode(content: .quoted(try string()), position: start)
        default:
            let word = rest.prefix { !" \t\r\n,:[]{}\"".unicodeScalars.contains($0) }
            switch String(word) {
            case "": throw unexpected(insteadOf: "a JSON value")
            case "null":
                for _ in word { advance() }
                return DocumentNode(content: .null, position: start)
            case let text where text == "true" || text == "false" || Self.isNumber(text):
                for _ in word { advance() }
                return DocumentNode(content: .plain(text), position: start)
            case let text:
                throw failure("`\(text.shortened)` is no JSON; put texts in double quotes")
            }
        }
    }

    private mutating func elements(depth: Int) throws(PolicyFileError) -> [DocumentNode] {
        advance()
        skipBlanks()
        var elements: [DocumentNode] = []
        if rest.first == "]" {
            advance()
            return []
        }
        while true {
            skipBlanks()
            elements.append(try value(depth: depth + 1))
            skipBlanks()
            switch rest.first {
            case ",": advance()
            case "]":
                advance()
                return elements
            default: throw unexpected(insteadOf: "`,` or `]`")
            }
        }
    }

    private mutating func entries(depth: Int) throws(PolicyFileError) -> [DocumentNode.Entry] {
        advance()
        skipBlanks()
        var entries: [DocumentNode.Entry] = []
        if rest.first == "}" {
            advance()
            return []
        }
        while true {
            skipBlanks()
            let keyPosition = position
            guard rest.first == "\"" else { throw unexpected(insteadOf: "a key in double quotes") }
            let key = try string()
            skipBlanks()
            guard rest.first == ":" else { throw unexpected(insteadOf: "`:`") }
            advance()
            skipBlanks()
            let value = try value(depth: depth + 1)
            entries.append(DocumentNode.Entry(key: key, keyPosition: keyPosition, value: value))
            skipBlanks()
            switch rest.first {
            case ",": advance()
            case "}":
                advance()
                return entries
            default: throw unexpected(insteadOf: "`,` or `}`")
            }
        }
    }

    private mutating func string() throws(PolicyFileError) -> String {
        advance()
        var result = String.UnicodeScalarView()
        while let scalar = rest.first {
            switch scalar {
            case "\"":
                advance()
                return String(result)
            case "\n", "\r", "\t": throw failure("a JSON text cannot hold a line break or tab; write `\\n` or `\\t`")
            case "\\":
                advance()
                result.append(try escaped())
            default:
                advance()
                result.append(scalar)
            }
        }
        throw failure("a text is not closed; write `\"` where it ends")
    }

    private mutating func escaped() throws(PolicyFileError) -> Unicode.Scalar {
        switch rest.first {
        case "u":
            advance()
            let unit = try hexadecimal()
            // A character beyond U+FFFF is a pair of surrogates.
            if (0xD800...0xDBFF).contains(unit) {
                guard rest.starts(with: "\\u".unicodeScalars) else {
                    throw failure("half of a surrogate pair stands alone")
                }
                advance()
                advance()
                let low = try hexadecimal()
                guard (0xDC00...0xDFFF).contains(low),
                    let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
                else { throw failure("half of a surrogate pair stands alone") }
                return scalar
            }
            guard let scalar = Unicode.Scalar(unit) else { throw failure("half of a surrogate pair stands alone") }
            return scalar
        case let scalar?:
            guard let result = Self.escapes[scalar] else {
                throw unexpected(insteadOf: "an escape of JSON, such as `\\\\`")
            }
            advance()
            return result
        case nil:
            throw unexpected(insteadOf: "an escape of JSON")
        }
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "\"": "\"", "\\": "\\", "/": "/", "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
    ]

    private mutating func hexadecimal() throws(PolicyFileError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let scalar = rest.first, scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
                throw unexpected(insteadOf: "four hexadecimal digits")
            }
            value = value << 4 + UInt32(digit)
            advance()
        }
        return value
    }

    /// `-? int frac? exp?`
    static func isNumber(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func digits() -> Int {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest.dropFirst(digits.count)
            return digits.count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let leadsWithZero = rest.first == UInt8(ascii: "0")
        let count = digits()
        guard count == 1 || (count > 1 && !leadsWithZero) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
