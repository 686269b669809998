import Foundation

/// The state of a file: its identity, its size, and the time of its last change. If two states of a path are equal, the
/// file wasn't changed in between.
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
