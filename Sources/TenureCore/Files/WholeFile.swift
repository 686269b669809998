package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A small file of its user's alone, which is read whole, and written whole or not at all.
package struct WholeFile: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    package struct Contents: Sendable {
        package let bytes: [UInt8]
    }

    /// Nil where there is none.
    ///
    /// Apps contain this code, and Apple requires a reason for `fstat` and similar calls. So the size comes from
    /// `lseek`. Callers that need more attributes read them from the descriptor in `inspect`.
    ///
    /// - Parameters:
    ///   - most: the number of bytes that any good file has at most; of a larger one no more than that and one are read.
    ///   - inspect: called with the open file before it is read.
    package func read(most: Int, inspect: (_ descriptor: CInt) -> Void = { _ in }) throws(FileFailure) -> Contents? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileFailure(act: "read", path: path)
        }
        defer { close(descriptor) }
        inspect(descriptor)
        // One more than it has, so that the end is seen. What is no file on a disk, such as a pipe, says no size.
        let length = Int(lseek(descriptor, 0, SEEK_END))
        if length >= 0 { lseek(descriptor, 0, SEEK_SET) }
        let size = max(0, min(length > 0 ? length : most, most)) + 1
        var isRead = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            while filled < size {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let count = systemRead(descriptor, rest.baseAddress, rest.count)
                if count > 0 {
                    filled += count
                } else if count == 0 {
                    break
                } else if errno != EINTR {
                    isRead = false
                    break
                }
            }
        }
        guard isRead else { throw FileFailure(act: "read", path: path) }
        return Contents(bytes: bytes)
    }

    /// Written aside, flushed, and then given its name.
    ///
    /// - Parameters:
    ///   - replacing: where false, what lies there already stays, and this is forgotten.
    ///   - owner: who owns the new file; nil: the user of this process.
    package func write(
        _ contents: some ContiguousBytes, replacing: Bool, owner: (user: UInt32, group: UInt32)? = nil
    ) throws(FileFailure) {
        let aside = "\(path).\(UInt64.random(in: .min ... .max))"
        let descriptor = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure(act: "make", path: aside) }
        defer { unlink(aside) }
        if let owner, fchown(descriptor, owner.user, owner.group) != 0 {
            let failure = FileFailure(act: "keep the owner of", path: path)
            close(descriptor)
            throw failure
        }
        let isWritten = contents.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard count >= 0 || errno == EINTR else { return false }
                rest = rest.dropFirst(max(0, count))
            }
            return fsync(descriptor) == 0
        }
        let failure = isWritten ? nil : FileFailure(act: "write", path: path)
        close(descriptor)
        if let failure { throw failure }
        let isNamed = replacing ? rename(aside, path) == 0 : (link(aside, path) == 0 || errno == EEXIST)
        guard isNamed else { throw FileFailure(act: "name", path: path) }
        // The name, too, must outlive a loss of power.
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let folderDescriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard folderDescriptor >= 0 else { return }
        fsync(folderDescriptor)
        close(folderDescriptor)
    }
}

/// What the system said about a file.
package struct FileFailure: Error, Sendable, CustomStringConvertible {
    package let act: String
    package let path: String
    /// In the system's words.
    package let reason: String

    init(act: String, path: String) {
        self.act = act
        self.path = path
        reason = String(cString: strerror(errno)).lowercased()
    }

    package var description: String { "cannot \(act) `\(path)` (\(reason))" }
}

// The methods of `WholeFile` hide the system's functions of the same names.
private func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: CInt, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}
