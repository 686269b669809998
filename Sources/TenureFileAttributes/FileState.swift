import Foundation

/// The state of a file: its identity, its size, and when it was last changed. An unchanged file has the same state.
package struct FileState: Sendable, Hashable {
    private let identity: FileIdentity
    /// The size in bytes.
    package let size: Int64
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

    /// Nil if there is nothing at the path, or if `errno` says why it can't be read.
    ///
    /// - Parameter followsLinks: whether this is the state of the file that a link leads to, or of the link.
    package init?(path: String, followsLinks: Bool = false) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.init(status)
    }

    package init?(descriptor: CInt) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}
