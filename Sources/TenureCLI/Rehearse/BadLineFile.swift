import TenureCore
import TenureJSON
import TenureRehearsal

/// Writes the list of a rehearsal's rejected artifacts and rejected lines to a file. A rehearsal (`tenure rehearse`) is
/// the dry run of a policy over lines with customers' artifacts.
///
/// Each entry of the list is a JSON object with the number of the line and the reason. A line with several rejected
/// artifacts has several entries. The file is created with the first entry, and gets its name when it is complete.
///
/// A small compressed input can have millions of bad lines, so the list has a maximum size. The report counts all bad
/// lines.
final class BadLineFile {
    /// The path of the list, which `close(orAs:)` may change.
    private(set) var path: String
    private var file: StreamedFile?
    /// Entries that aren't in the file yet.
    private var buffer: [UInt8] = []
    /// The size of the list so far, including `buffer`.
    private var listed = (entries: 0, bytes: 0)
    /// The number of rejected artifacts and lines that aren't listed, because the list is full.
    private(set) var omittedEntries = 0

    /// The limits of the list.
    static let maximumEntries = 10_000
    static let maximumBytes = 16_000_000
    /// The number of bytes that are reserved for the last entry, which has the number of omitted entries.
    private static let lastEntrySize = 200

    /// Whether to replace an existing file.
    private let replaces: Bool

    init(path: String, replaces: Bool = false) {
        self.path = path
        self.replaces = replaces
    }

    /// Whether the list has an entry, so that the file exists.
    var isUsed: Bool { file != nil }

    /// Lists a rejected artifact or line. If the list is full, only counts it.
    func add(_ line: BadLine) throws {
        // After the first omitted entry, omit all others: the list has only the first entries.
        guard omittedEntries == 0, listed.entries < Self.maximumEntries else { return omittedEntries += 1 }
        // Only the owner may read the file, because it has customers' artifacts.
        if file == nil { file = try StreamedFile(path: path, replacing: replaces, permissions: 0o600) }
        let fields = JSONWriter.object {
            $0.field("line", line.line)
            $0.field("code", line.fault.code.name)
            $0.field("part", ifPresent: line.fault.part)
            $0.field("rest", line.isWholeLine ? "the whole line is rejected" : "the rest of the line is used")
            $0.field("detail", line.fault.detail)
        }
        let entry = Self.entry(fields)
        guard listed.bytes + entry.count <= Self.maximumBytes - Self.lastEntrySize else { return omittedEntries += 1 }
        append(entry)
        if buffer.count >= 1 << 16 { try flush() }
    }

    /// Completes the list, and gives the file its name. Does nothing if the list has no entry.
    ///
    /// - Parameter freeName: returns another name if another rehearsal has created a file with the name meanwhile.
    func close(orAs freeName: (() -> String)? = nil) throws {
        guard let file else { return }
        if omittedEntries > 0 {
            let fields = JSONWriter.object {
                $0.field("omitted", omittedEntries)
                $0.field("detail", "the file has only the first entries; the report counts all rejected lines")
            }
            append(Self.entry(fields))
        }
        try flush()
        try file.close(orAs: freeName)
        path = file.path
    }

    private func append(_ entry: [UInt8]) {
        listed.entries += 1
        listed.bytes += entry.count
        buffer += entry
    }

    /// Returns an entry: the JSON object, with escapes for hidden characters, and a line break.
    private static func entry(_ fields: [UInt8]) -> [UInt8] {
        Array(String(decoding: fields, as: UTF8.self).escapedJSONForDisplay.utf8) + [UInt8(ascii: "\n")]
    }

    private func flush() throws {
        try file?.write(buffer, or: "free some space, or pass another file with `--rejected`")
        buffer.removeAll(keepingCapacity: true)
    }
}
