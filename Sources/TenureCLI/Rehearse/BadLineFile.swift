import Foundation
import TenureCore
import TenureJSON
import TenureRehearsal

/// Writes a list of a rehearsal's rejected artifacts and rejected lines to a file. The list has one JSON object for
/// each, with the number of the line and the reason. A line with several rejected artifacts has several objects. The
/// file is created when the first object is added, and gets its name when it is complete.
///
/// A small compressed file can have millions of bad lines. So only the first objects are listed. The report counts all
/// bad lines.
final class BadLineFile {
    /// The path of the list. `close(orAs:)` may choose another path.
    private(set) var path: String
    private var file: StreamedFile?
    /// Lines of the list that aren't in the file yet.
    private var buffer: [UInt8] = []
    /// The numbers of lines and bytes that the list has so far.
    private var written = (lines: 0, bytes: 0)
    /// The number of rejected artifacts and lines that aren't listed, because the list is full.
    private(set) var omittedLines = 0

    /// The limits of the list.
    static let maximumLines = 10_000
    static let maximumBytes = 16_000_000
    /// The number of bytes that are reserved for the last line, which has the number of omitted lines.
    private static let lastLineSize = 200

    /// Whether to replace an existing file.
    private let replaces: Bool

    init(path: String, replaces: Bool = false) {
        self.path = path
        self.replaces = replaces
    }

    /// Whether a line was listed, so that the file exists.
    var isUsed: Bool { file != nil }

    /// Lists a rejected artifact or line. If the list is full, only counts it.
    func add(_ line: BadLine) throws {
        guard omittedLines == 0, written.lines < Self.maximumLines else { return omittedLines += 1 }
        // Only the owner may read the file, because it has customers' artifacts.
        if file == nil { file = try StreamedFile(path: path, replacing: replaces, permissions: 0o600) }
        let fields = JSONWriter.object {
            $0.field("line", line.line)
            $0.field("code", line.fault.code.name)
            $0.field("part", ifPresent: line.fault.part)
            $0.field("rest", line.isWholeLine ? "the whole line is rejected" : "the rest of the line is used")
            $0.field("detail", line.fault.detail)
        }
        let entry = Self.line(fields)
        guard written.bytes + entry.count <= Self.maximumBytes - Self.lastLineSize else { return omittedLines += 1 }
        append(entry)
        if buffer.count >= 1 << 16 { try flush() }
    }

    /// Writes the buffered lines, and gives the file its name.
    ///
    /// - Parameter freeName: returns another name if another rehearsal has created a file with the name meanwhile.
    func close(orAs freeName: (() -> String)? = nil) throws {
        guard let file else { return }
        if omittedLines > 0 {
            let fields = JSONWriter.object {
                $0.field("omitted", omittedLines)
                $0.field("detail", "the file has only the first entries; the report counts all rejected lines")
            }
            append(Self.line(fields))
        }
        try flush()
        try file.close(orAs: freeName)
        path = file.path
    }

    private func append(_ line: [UInt8]) {
        written.lines += 1
        written.bytes += line.count
        buffer += line
    }

    private static func line(_ fields: [UInt8]) -> [UInt8] {
        Array(String(decoding: fields, as: UTF8.self).escapedJSONForDisplay.utf8) + [UInt8(ascii: "\n")]
    }

    private func flush() throws {
        try file?.write(buffer, or: "free some space, or pass another file with `--rejected`")
        buffer.removeAll(keepingCapacity: true)
    }
}
