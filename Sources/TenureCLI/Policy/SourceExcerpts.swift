import Foundation
import TenureCore
import TenurePolicyFile

/// Excerpts of files with mistakes: the line of a mistake, and a caret (`^`) below its position.
///
/// The user may pass a wrong file by mistake, such as a configuration with a password or a private key. So lines that
/// may have credentials aren't shown.
struct SourceExcerpts {
    /// The lines of each file that was read, by path. A file has no lines if they can't be shown.
    private var linesOfFile: [String: [String]] = [:]

    /// The maximum number of characters of a line that are shown.
    private static let width = 120

    /// Prints the line and the caret, if they can be shown.
    mutating func show(_ path: String, at position: SourcePosition, on terminal: Terminal) {
        for line in lines(of: path, at: position) { terminal.write(terminal.styled(line, .faint)) }
    }

    /// Returns the line and the caret. Empty if they can't be shown:
    /// - The file can't be read again, such as standard input.
    /// - The file has no such line.
    /// - The file or the line may have credentials.
    mutating func lines(of path: String, at position: SourcePosition) -> [String] {
        if linesOfFile[path] == nil { linesOfFile[path] = Self.read(path) }
        guard let lines = linesOfFile[path], lines.indices.contains(position.line - 1) else { return [] }
        // Also check the line before: it may have the key of a credential, and this line its value.
        guard !lines[max(0, position.line - 2)..<position.line].contains(where: \.mayHaveCredentials) else { return [] }
        let line = lines[position.line - 1].replacingOccurrences(of: "\t", with: " ")
        let scalars = Array(Terminal.escaped(line).unicodeScalars)
        // An escape is longer than its character, so count the escaped characters before the position.
        let before = String(String.UnicodeScalarView(line.unicodeScalars.prefix(max(position.column - 1, 0))))
        let column = min(Terminal.escaped(before).unicodeScalars.count, scalars.count)
        // Show only the part around the position, because compact JSON is one long line.
        let start = scalars.count <= Self.width ? 0 : max(0, min(column - Self.width / 2, scalars.count - Self.width))
        let end = min(scalars.count, start + Self.width)
        let shown = String.UnicodeScalarView(scalars[start..<end])
        let number = String(position.line)
        let margin = String(repeating: " ", count: number.count)
        let text = (start > 0 ? "…" : "") + String(shown) + (end < scalars.count ? "…" : "")
        let indentation = String(repeating: " ", count: column - start + (start > 0 ? 1 : 0))
        return ["  \(number) | \(text)", "  \(margin) | \(indentation)^"]
    }

    /// Returns the lines of a file; empty if the file can't be read again, or if a credential was found in it.
    private static func read(_ path: String) -> [String] {
        guard path != "-",
            let bytes = try? InputFile(path: path).bytes(limit: ReleaseListFile.maximumSize, acceptsPipe: false)
        else { return [] }
        var whole = String(decoding: bytes, as: UTF8.self)
        // Positions don't count a byte order mark.
        if whole.unicodeScalars.first == "\u{FEFF}" { whole.unicodeScalars.removeFirst() }
        // A key in PEM has many lines, so no line of a file with credentials is shown.
        guard whole.hidingCredentials == whole else { return [] }
        let text = whole.replacingOccurrences(of: "\r\n", with: "\n")
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}

extension String {
    /// Whether the line has a credential, or a YAML or JSON key for one, such as `password:`. JSON's escapes, such as
    /// `\/` and `\u0077`, are decoded before the check.
    fileprivate var mayHaveCredentials: Bool {
        let unescaped = replacing(/\\u00([0-7][0-9A-Fa-f])/) { match in
            UInt8(match.1, radix: 16).map { String(UnicodeScalar($0)) } ?? String(match.0)
        }.replacing("\\/", with: "/")
        return unescaped.hidingCredentials != unescaped || unescaped.contains(/(?i)(password|secret|token)["']?\s*:/)
    }
}
