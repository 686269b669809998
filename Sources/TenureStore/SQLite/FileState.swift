import Foundation

/// The state of a file: its inode, its size, and when it was last changed. An unchanged file has the same state.
///
/// It is read here because the compiler attributes `stat` to another module in each target that imports SwiftNIO.
package struct FileState: Sendable, Hashable {
    /// Whether it is a regular file, and no folder, pipe or device.
    package let isRegular: Bool
    /// The size in bytes.
    package let size: Int64
    private let inode: UInt64
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil if there is nothing at the path.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    package init?(descriptor: CInt) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        isRegular = status.st_mode & S_IFMT == S_IFREG
        size = Int64(status.st_size)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        #if os(Linux)
            let modified = status.st_mtim
        #else
            let modified = status.st_mtimespec
        #endif
        seconds = modified.tv_sec
        nanoseconds = modified.tv_nsec
    }
}
