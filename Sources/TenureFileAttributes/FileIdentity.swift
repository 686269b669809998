import Foundation

/// The identity of a file: links and other names of one file have the same identity.
package struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    /// The kind of file.
    package let kind: Kind

    /// The kinds of files.
    package enum Kind: Sendable, Hashable {
        case file, folder, link
        /// A device, a pipe or a socket.
        case other
    }

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
    }

    /// Returns the identity of a file, following links. Nil if the path doesn't exist or is a broken link.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Returns the identity of an open file. Nil if the system can't read it.
    package init?(descriptor: CInt) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether the path exists, even if it's a broken link.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}

/// The state of a file: its identity, its size, and the time of its last change. Two equal states mean that the file
/// wasn't changed in between.
package struct FileState: Sendable, Hashable {
    private let identity: FileIdentity
    /// The size in bytes.
    package let size: Int64
    // The time at which the contents were last changed, since 1970.
    private let seconds: Int
    private let nanoseconds: Int

    package var kind: FileIdentity.Kind { identity.kind }

    private init(_ status: stat) {
        identity = FileIdentity(status)
        size = Int64(status.st_size)
        #if canImport(Darwin)
            let modified = status.st_mtimespec
        #else
            let modified = status.st_mtim
        #endif
        seconds = modified.tv_sec
        nanoseconds = modified.tv_nsec
    }

    /// Reads the state of a path. Nil if the path doesn't exist, or if its state can't be read; `errno` has the reason.
    ///
    /// - Parameter followsLinks: whether to return the state of a link's target instead of the link's own.
    package init?(path: String, followsLinks: Bool = false) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the state of an open file. Nil if the system can't read it; `errno` has the reason.
    package init?(descriptor: CInt) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}
