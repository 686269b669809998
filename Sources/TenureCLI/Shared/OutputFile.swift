import Foundation
import TenureStore

/// A file that a command writes; nil is standard output.
struct OutputFile {
    let path: String?
    /// Whether a file that is already there is replaced.
    var replaces = false

    /// Whole or not at all.
    func write(_ bytes: [UInt8], newlineAtEnd: Bool = true) throws {
        guard let path else {
            Terminal.standardOutput.write(bytes: bytes + (newlineAtEnd ? [UInt8(ascii: "\n")] : []))
            return
        }
        if FileIdentity(path: path)?.kind == .other {
            // A device or a pipe is written to; a file in its place would break whoever uses it next.
            guard let handle = FileHandle(forWritingAtPath: path) else { throw Self.unwritable(path) }
            do {
                try handle.write(contentsOf: Data(bytes))
                try handle.close()
            } catch {
                throw Self.unwritable(path)
            }
            return
        }
        // Where a link leads, so that the link stays one.
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let aside = "\(target).\(UInt64.random(in: .min ... .max)).partial"
        defer { unlink(aside) }
        guard FileManager.default.createFile(atPath: aside, contents: Data(bytes)) else { throw Self.unwritable(path) }
        if replaces {
            guard rename(aside, target) == 0 else { throw Self.unwritable(path) }
        } else if link(aside, target) != 0 {
            guard errno != EEXIST else { throw Self.exists(path) }
            // Some file systems have no links.
            guard !FileIdentity.exists(target) else { throw Self.exists(path) }
            guard rename(aside, target) == 0 else { throw Self.unwritable(path) }
        }
    }

    /// To be written piece by piece.
    static func opened(at path: String, replacing: Bool, permissions: mode_t = 0o666) throws -> FileHandle {
        let mayExist = replacing || FileIdentity(path: path)?.kind == .other
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (mayExist ? O_TRUNC : O_EXCL), permissions)
        guard descriptor >= 0 else { throw errno == EEXIST ? exists(path) : unwritable(path) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func exists(_ path: String) -> CommandError {
        CommandError("`\(path)` is already there; choose another name, or replace it with --force")
    }

    private static func unwritable(_ path: String) -> CommandError {
        CommandError("`\(path)` cannot be written; check the folder and who may write to it")
    }
}
