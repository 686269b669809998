import Foundation
import TenureJSON

/// Creates a folder, unless it exists. Throws a `CommandError` that ends with `advice` if it can't be created.
func makeFolder(_ path: String, attributes: [FileAttributeKey: Any]? = nil, or advice: String) throws {
    do {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: attributes)
    } catch {
        throw CommandError("the folder `\(path)` can't be created; make it writable, or \(advice)")
    }
}

/// A file that a command writes. If there is no path, the command writes to standard output.
struct OutputFile {
    let path: String?
    /// Whether to replace an existing file.
    var replaces = false

    /// Writes all bytes or nothing.
    ///
    /// - Parameter newlineAtEnd: whether standard output gets a line break after the bytes. A terminal always does.
    func write(_ bytes: [UInt8], newlineAtEnd: Bool = true) throws {
        guard let path else {
            // Escape hidden characters only on a terminal. JSON stays valid, because it has JSON escapes there.
            if isatty(STDOUT_FILENO) == 1 {
                if (try? JSONValue(parsing: bytes)) != nil { return Terminal.standardOutput.write(json: bytes) }
                return Terminal.standardOutput.write(String(decoding: bytes, as: UTF8.self))
            }
            Terminal.standardOutput.write(bytes: bytes + (newlineAtEnd ? [UInt8(ascii: "\n")] : []))
            return
        }
        let file = try StreamedFile(path: path, replacing: replaces)
        try file.write(bytes)
        try file.close()
    }
}
