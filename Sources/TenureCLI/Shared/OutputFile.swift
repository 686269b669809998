import Foundation
import TenureJSON

/// Creates a folder, unless it exists. Throws a `CommandError` that ends with `advice` if it can't be created.
func makeFolder(_ path: String, attributes: [FileAttributeKey: Any]? = nil, or advice: String) throws {
    do {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: attributes)
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
    /// - Parameter newlineAtEnd: whether to write a line break after the bytes to standard output. A terminal always
    ///   gets one, and a file never.
    func write(_ bytes: [UInt8], newlineAtEnd: Bool = true) throws {
        guard let path else {
            // On a terminal, escape hidden characters. JSON gets JSON's own escapes, so that it stays valid.
            if isatty(STDOUT_FILENO) == 1 {
                if (try? JSONValue(parsing: bytes)) != nil { return terminal.write(json: bytes) }
                return terminal.write(String(decoding: bytes, as: UTF8.self))
            }
            terminal.write(bytes: bytes + (newlineAtEnd ? [UInt8(ascii: "\n")] : []))
            return
        }
        let file = try StreamedFile(path: path, replacing: replaces)
        try file.write(bytes)
        try file.close()
    }
}
