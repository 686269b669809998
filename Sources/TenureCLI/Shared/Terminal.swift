import Foundation
import TenureCore
import TenureFiles

/// Standard output, to which commands write their results.
let terminal = Terminal.standardOutput

/// Standard output or standard error. Colors appear only on a terminal, and never if `NO_COLOR` is set.
struct Terminal {
    enum Style: String, CaseIterable {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    static let standardOutput = Terminal(descriptor: STDOUT_FILENO)
    static let standardError = Terminal(descriptor: STDERR_FILENO)

    private let descriptor: Int32
    private let hasColor: Bool

    private init(descriptor: Int32) {
        self.descriptor = descriptor
        let environment = ProcessInfo.processInfo.environment
        hasColor =
            isatty(descriptor) == 1 && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// Writes one or more lines. Escapes all hidden characters except line breaks and the sequences of `styled`.
    func write(_ line: String) {
        write(bytes: Array(Self.visible(line, keepingStyles: hasColor).utf8) + [UInt8(ascii: "\n")])
    }

    /// Writes `error: `, a prefix such as `notes: ` (the app's name), and an error's message without passwords.
    func write(error: any Error, of prefix: String = "") {
        write("error: \(prefix)\(describe(error).hidingCredentials.escapedLinesForDisplay)")
    }

    /// Writes JSON, with JSON's escapes for hidden characters.
    func write(json bytes: [UInt8]) {
        write(bytes: Array(String(decoding: bytes, as: UTF8.self).escapedJSONForDisplay.utf8) + [UInt8(ascii: "\n")])
    }

    /// Writes the JSON of a value on several lines, with sorted names.
    func write(encoded value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers always encode.
        let json = try? encoder.encode(value)
        write(json: json.map { Array($0) } ?? Array("{}".utf8))
    }

    /// Escapes hidden characters, but keeps line breaks and, if asked, the sequences of `styled`.
    private static func visible(_ text: String, keepingStyles: Bool) -> String {
        guard text.unicodeScalars.contains(where: \.isHidden) else { return text }
        guard keepingStyles, text.contains("\u{1B}") else { return text.escapedLinesForDisplay }
        var result = ""
        var remaining = text[...]
        while let start = remaining.firstIndex(of: "\u{1B}") {
            result += remaining[..<start].escapedLinesForDisplay
            let sequence = sequences.first { remaining[start...].hasPrefix($0) } ?? "\u{1B}"
            result += sequence == "\u{1B}" ? sequence.escapedForDisplay : sequence
            remaining = remaining[start...].dropFirst(sequence.count)
        }
        return result + remaining.escapedLinesForDisplay
    }

    /// The escape sequences that `styled` writes.
    private static let sequences = (Style.allCases.map(\.rawValue) + ["0"]).map { "\u{1B}[\($0)m" }

    /// Writes bytes. Returns false if not all of them could be written, such as after the reader has closed the pipe.
    @discardableResult
    func write(bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { writeBytes($0, to: descriptor) } }

    /// Returns untrusted text for one line, with escapes in place of hidden characters and line breaks.
    static func escaped(_ text: String) -> String { text.escapedForDisplay }

    /// Returns the text in this style, or unchanged if the terminal shows no colors.
    func styled(_ text: String, _ style: Style) -> String {
        hasColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }
}
