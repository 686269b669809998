/// The text of a file that a user wrote, checked before it is parsed: UTF-8, of limited size, without control
/// characters.
struct SourceText {
    let fileName: String
    /// The text, without a byte order mark, and with LF as the only line break.
    let text: String

    /// The maximum size of most files in bytes.
    static let maximumSize = 1 << 20

    /// Checks the bytes. Throws the first mistake with its position.
    init(
        _ bytes: some Collection<UInt8>, named fileName: String, maximumSize: Int = Self.maximumSize
    ) throws(PolicyFileError) {
        // Creates the error of a mistake that comes after the text `before`, the beginning of the file.
        func failure(_ message: String, after before: Substring.UnicodeScalarView) -> PolicyFileError {
            let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
            return PolicyFileError(
                message, at: SourcePosition(file: fileName, line: lines.count, column: (lines.last?.count ?? 0) + 1))
        }
        guard bytes.count <= maximumSize else {
            throw PolicyFileError(
                "the file has \(bytes.count) bytes, and may have at most \(maximumSize); check that it is the right file, or leave out what it doesn't need",
                at: SourcePosition(file: fileName))
        }
        self.fileName = fileName
        let bytes = Array(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        // Nearly all files have only printable ASCII, for which there is a fast check.
        if bytes.allSatisfy(Self.isPlain) {
            self.text = text
            return
        }
        // `String(decoding:)` replaces invalid UTF-8, and then the bytes differ. The initializer that validates UTF-8
        // needs a newer system than the client supports.
        guard text.utf8.elementsEqual(bytes) else {
            throw failure("these bytes aren't UTF-8; save the file as UTF-8", after: Self.validUTF8(in: bytes)[...])
        }
        var withoutMark = text.unicodeScalars[...]
        if withoutMark.first == "\u{FEFF}" { withoutMark = withoutMark.dropFirst() }
        if let index = withoutMark.firstIndex(where: { !Self.isAllowed($0) }) {
            let code = String(withoutMark[index].value, radix: 16, uppercase: true)
            throw failure(
                "the control character U+\(String(repeating: "0", count: max(0, 4 - code.count)))\(code) isn't allowed here; remove it",
                after: withoutMark[..<index])
        }
        self.text = Self.withPlainLineBreaks(withoutMark)
    }

    /// Whether the byte is a printable character of ASCII, a tab or a line feed.
    private static func isPlain(_ byte: UInt8) -> Bool {
        0x20...0x7E ~= byte || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n")
    }

    /// Replaces CR LF and CR with LF, so that all parsers count the same lines.
    private static func withPlainLineBreaks(_ text: Substring.UnicodeScalarView) -> String {
        guard text.contains("\r") else { return String(text) }
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text {
            if scalar == "\r" {
                result.append("\n")
            } else if scalar != "\n" || previous != "\r" {
                result.append(scalar)
            }
            previous = scalar
        }
        return String(result)
    }

    /// Returns the text up to the first byte that isn't UTF-8.
    private static func validUTF8(in bytes: [UInt8]) -> String.UnicodeScalarView {
        var text = String.UnicodeScalarView()
        var decoder = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        while case .valid(let encoded) = decoder.parseScalar(from: &iterator) {
            text.append(Unicode.UTF8.decode(encoded))
        }
        return text
    }

    /// Whether a character is allowed. Not allowed are characters that aren't printable in YAML 1.2 (section 5.1), and
    /// line breaks that only YAML 1.1 knows.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09...0x0A, 0x0D, 0x20...0x7E, 0xA0...0x2027, 0x202A...0xD7FF, 0xE000...0xFEFE, 0xFF00...0xFFFD,
            0x10000...:
            true
        default: false
        }
    }

    /// Whether the file is JSON: by its name, or because it can be parsed as JSON. YAML may begin with a brace, too.
    var isJSON: Bool {
        if fileName.lowercased().hasSuffix(".json") { return true }
        guard text.unicodeScalars.first(where: { !" \t\n".unicodeScalars.contains($0) }) == "{" else { return false }
        return (try? JSONDocument.parse(self)) != nil
    }
}
