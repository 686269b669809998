import Foundation
import TenureFileAttributes
import TenureStore

/// Creates a folder, unless it exists. Throws a `CommandError` with the advice if it can't be created.
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

    /// Writes the complete bytes or nothing.
    func write(_ bytes: [UInt8], newlineAtEnd: Bool = true) throws {
        guard let path else {
            // Escape control characters only on a terminal.
            if isatty(STDOUT_FILENO) == 1 {
                return Terminal.standardOutput.write(String(decoding: bytes, as: UTF8.self))
            }
            Terminal.standardOutput.write(bytes: bytes + (newlineAtEnd ? [UInt8(ascii: "\n")] : []))
            return
        }
        if FileIdentity(path: path)?.kind == .other {
            // Write to an existing device or pipe instead of replacing it with a file.
            guard let handle = FileHandle(forWritingAtPath: path) else { throw Self.unwritable(path) }
            do {
                try handle.write(contentsOf: Data(bytes))
                try handle.close()
            } catch {
                throw Self.unwritable(path)
            }
            return
        }
        // Replace the target of a symbolic link, not the link itself.
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let aside = "\(target).\(UInt64.random(in: .min ... .max)).partial"
        defer { unlink(aside) }
        guard FileManager.default.createFile(atPath: aside, contents: Data(bytes)) else { throw Self.unwritable(path) }
        if replaces {
            guard rename(aside, target) == 0 else { throw Self.unwritable(path) }
        } else if link(aside, target) != 0 {
            guard errno != EEXIST else { throw Self.exists(path) }
            // Some file systems have no hard links.
            guard !FileIdentity.exists(target) else { throw Self.exists(path) }
            guard rename(aside, target) == 0 else { throw Self.unwritable(path) }
        }
    }

    /// Opens a file to be written piece by piece.
    static func opened(at path: String, replacing: Bool, permissions: mode_t = 0o666) throws -> FileHandle {
        let mayExist = replacing || FileIdentity(path: path)?.kind == .other
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (mayExist ? O_TRUNC : O_EXCL), permissions)
        guard descriptor >= 0 else { throw errno == EEXIST ? exists(path) : unwritable(path) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func exists(_ path: String) -> CommandError {
        CommandError("`\(path)` already exists; choose another name, or replace it with --force")
    }

    private static func unwritable(_ path: String) -> CommandError {
        CommandError("`\(path)` can't be written; check that its folder exists and that you have permission to write")
    }
}
