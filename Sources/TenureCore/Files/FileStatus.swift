import Foundation

/// What the system says about a regular file, without reading it.
package struct FileStatus: Sendable, Hashable {
    /// In bytes.
    package let size: Int64
    /// How many names the file has.
    package let names: Int
    /// The same for all names of a file on one volume.
    package let identifier: UInt64

    /// Nil if there is no regular file. A link isn't followed.
    package init?(path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        size = Int64(status.st_size)
        names = Int(status.st_nlink)
        identifier = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
