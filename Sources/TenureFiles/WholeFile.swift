package import Foundation

/// A small file that is always read and written as a whole. When it is created, only its owner may read and write it.
package struct WholeFile: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// The end of the names of the temporary files that `write` creates. If a process is killed while it writes, its
    /// temporary file stays.
    package static let temporarySuffix = ".partial"

    /// Returns the file's bytes; nil if there is no such file. Throws if the file is a pipe, without waiting for a
    /// writer.
    ///
    /// Apple requires apps to declare a reason for calls such as `fstat`. This method needs none, because it gets the
    /// size from `lseek`. Callers that need other attributes read them from the descriptor in `inspect`.
    ///
    /// - Parameters:
    ///   - maximumSize: the maximum size in bytes. If the file is larger, the result has `maximumSize` + 1 bytes, so
    ///     that callers notice. Further bytes aren't read.
    ///   - inspect: called with the open file before it is read.
    package func read(
        maximumSize: Int, inspect: (_ descriptor: CInt) -> Void = { _ in }
    ) throws(FileFailure) -> [UInt8]? {
        // `O_NONBLOCK`, because opening a pipe would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileFailure(operation: "read", path: path)
        }
        defer { close(descriptor) }
        inspect(descriptor)
        let length = Int(lseek(descriptor, 0, SEEK_END))
        // A pipe, a socket and a terminal have no size.
        guard length >= 0 else {
            throw FileFailure(operation: "read", path: path, reason: "it is a pipe or a device; use a regular file")
        }
        lseek(descriptor, 0, SEEK_SET)
        // Read one byte more than the size, to detect the end. Files in `/proc` may report the size 0 although they
        // have contents.
        let size = max(0, min(length > 0 ? length : maximumSize, maximumSize)) + 1
        var isRead = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            let count = readBytes(from: descriptor, into: UnsafeMutableRawBufferPointer(buffer))
            isRead = count != nil
            filled = count ?? 0
        }
        guard isRead else { throw FileFailure(operation: "read", path: path) }
        return bytes
    }

    /// Writes the contents to a temporary file in the same folder, flushes it, renames it and flushes the folder.
    ///
    /// If the folder can't be flushed, this method throws, because a loss of power may undo the change. The file has
    /// its new contents until then.
    ///
    /// - Parameters:
    ///   - replacing: whether to replace an existing file. If false and the file exists, the file isn't changed, and no
    ///     error is thrown.
    ///   - owner: the IDs of the user and group that own the new file; nil for those of this process.
    package func write(
        _ contents: some ContiguousBytes, replacing: Bool, owner: (user: UInt32, group: UInt32)? = nil
    ) throws(FileFailure) {
        let temporary = "\(path).\(UInt64.random(in: .min ... .max))\(Self.temporarySuffix)"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure(operation: "create", path: path) }
        defer { unlink(temporary) }
        if let owner, fchown(descriptor, owner.user, owner.group) != 0 {
            let failure = FileFailure(operation: "set the owner of", path: path)
            close(descriptor)
            throw failure
        }
        let isWritten = contents.withUnsafeBytes { writeBytes($0, to: descriptor) } && fsync(descriptor) == 0
        let failure = isWritten ? nil : FileFailure(operation: "write", path: path)
        close(descriptor)
        if let failure { throw failure }
        let isNamed = replacing ? rename(temporary, path) == 0 : (link(temporary, path) == 0 || errno == EEXIST)
        guard isNamed else { throw FileFailure(operation: "rename a temporary file to", path: path) }
        // Flush the folder, too, so that the new name survives a loss of power.
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard Self.flushFolder(folder) else { throw FileFailure(operation: "flush the folder of", path: path) }
    }

    /// Flushes a folder to the disk, so that new, renamed and removed names in the folder survive a loss of power.
    ///
    /// - Returns: false if the folder can't be opened or flushed; `errno` then has the reason. On a file system that
    ///   can't flush folders, the result is true.
    package static func flushFolder(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        let isFlushed = fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP
        let reason = errno
        close(descriptor)
        errno = reason
        return isFlushed
    }
}

/// A failed operation on a file.
package struct FileFailure: Error, Sendable, CustomStringConvertible {
    /// What failed, as words before the path, such as `read`.
    package let operation: String
    package let path: String
    /// The system's message.
    package let reason: String

    init(operation: String, path: String, reason: String = String(cString: strerror(errno)).lowercased()) {
        self.operation = operation
        self.path = path
        self.reason = reason
    }

    package var description: String { "can't \(operation) `\(path)` (\(reason))" }
}
