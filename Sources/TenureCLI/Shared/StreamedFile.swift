import Foundation
import TenureFileAttributes
import TenureFiles

/// A file that a command writes in pieces. Until the file is complete, it has a temporary name in the same folder. So a
/// killed command leaves no incomplete file under the final name.
///
/// The temporary file is locked while it is written. So the next command with the same output can remove the files that
/// killed commands left: those without a lock.
final class StreamedFile {
    /// The final path, as messages show it.
    private(set) var path: String
    /// Whether an existing file may be replaced.
    private let replaces: Bool
    /// The final path without symbolic links: a command replaces the target of a link, not the link.
    private var target: String
    /// The temporary path; nil for a device or a pipe, which is written directly.
    private var temporaryPath: String?
    /// The descriptor of the open file; negative if it couldn't be opened.
    private var descriptor: CInt = -1

    private static let suffix = ".partial"

    /// Creates the temporary file, or opens the device or pipe at the path. Throws if that isn't possible, or if the
    /// final file exists and may not be replaced.
    init(path: String, replacing: Bool, permissions: mode_t = 0o666) throws {
        self.path = path
        replaces = replacing
        target = URL(fileURLWithPath: path).targetOfLinks.path
        if FileIdentity(path: path)?.kind == .other {
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            guard replacing || !FileIdentity.exists(target) else { throw Self.exists(path) }
            Self.removeLeftovers(of: target)
            descriptor = create(permissions)
        }
        guard descriptor >= 0 else { throw Self.unwritable(path) }
    }

    deinit {
        if let temporaryPath { unlink(temporaryPath) }
        if descriptor >= 0 { _ = Foundation.close(descriptor) }
    }

    /// Writes the next piece.
    ///
    /// - Parameter advice: what helps if the disk is full.
    func write(_ bytes: [UInt8], or advice: String = "free some space") throws {
        guard bytes.withUnsafeBytes({ writeBytes($0, to: descriptor) }) else {
            throw CommandError("`\(path)` can't be written; \(advice)")
        }
    }

    /// Gives the complete file its name, and flushes its folder.
    ///
    /// It is an error, too, if the folder can't be flushed: the file is complete, but a loss of power may remove its
    /// name.
    ///
    /// - Parameter freeName: returns another name if another command has created a file with the name meanwhile.
    ///   Without `freeName`, that is an error.
    func close(orAs freeName: (() -> String)? = nil) throws {
        guard let temporaryPath else { return }
        guard fsync(descriptor) == 0 else { throw CommandError("`\(path)` can't be written; free some space") }
        if replaces {
            guard rename(temporaryPath, target) == 0 else { throw Self.unwritable(path) }
        } else if link(temporaryPath, target) != 0 {
            if errno == EEXIST {
                guard let freeName else { throw Self.exists(path) }
                path = freeName()
                target = path
                return try close(orAs: freeName)
            }
            // Some file systems have no hard links.
            guard !FileIdentity.exists(target) else { throw Self.exists(path) }
            guard rename(temporaryPath, target) == 0 else { throw Self.unwritable(path) }
        }
        unlink(temporaryPath)
        self.temporaryPath = nil
        let folder = (target as NSString).deletingLastPathComponent
        guard WholeFile.flushFolder(folder.isEmpty ? "." : folder) else {
            let reason = String(cString: strerror(errno)).lowercased()
            throw CommandError("can't flush the folder of `\(path)` (\(reason)); check that you may read the folder")
        }
    }

    /// Creates and locks the temporary file. Returns a negative number if that isn't possible.
    private func create(_ permissions: mode_t) -> CInt {
        while true {
            let name = "\(target).\(UInt64.random(in: .min ... .max))\(Self.suffix)"
            let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
            guard descriptor >= 0 else { return -1 }
            temporaryPath = name
            // Some file systems have no locks.
            guard flock(descriptor, LOCK_EX) == 0 else { return descriptor }
            // Another command may have removed the file before it was locked.
            if FileIdentity(descriptor: descriptor) == FileIdentity(path: name) { return descriptor }
            _ = Foundation.close(descriptor)
        }
    }

    /// Removes the temporary files of killed commands.
    private static func removeLeftovers(of target: String) {
        let folder = (target as NSString).deletingLastPathComponent
        let start = (target as NSString).lastPathComponent + "."
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            guard name.hasPrefix(start), name.hasSuffix(suffix),
                UInt64(name.dropFirst(start.count).dropLast(suffix.count)) != nil
            else { continue }
            let descriptor = open("\(folder)/\(name)", O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink("\(folder)/\(name)") }
            _ = Foundation.close(descriptor)
        }
    }

    private static func exists(_ path: String) -> CommandError {
        CommandError("`\(path)` already exists; choose another name, or replace it with --force")
    }

    private static func unwritable(_ path: String) -> CommandError {
        CommandError("`\(path)` can't be written; check that its folder exists and that you have permission to write")
    }
}
