import Foundation

/// The attributes of a regular file. In apps, Apple requires a reason for `lstat`, which the client's privacy manifest
/// declares.
package struct FileStatus: Sendable, Hashable {
    /// The size in bytes.
    package let size: Int64
    /// The number of hard links.
    package let linkCount: Int
    /// The inode number, which is the same for all hard links of a file.
    package let identifier: UInt64

    /// Reads the attributes of the file at a path. Nil if there is no regular file; also nil for a symbolic link, which
    /// isn't followed.
    package init?(path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        size = Int64(status.st_size)
        linkCount = Int(status.st_nlink)
        identifier = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
