import Foundation
import TenureFileAttributes

/// Creates folders that a web server can read.
enum NewFolder {
    /// Creates a folder and its missing parents. An existing folder isn't changed.
    static func make(_ path: String) throws(PublishingError) {
        if try makeLast(path) { return }
        let parent = (path as NSString).deletingLastPathComponent
        if !parent.isEmpty { try make(parent) }
        guard try makeLast(path) else { throw .writing(path) }
    }

    /// Creates only the last folder of a path. Returns false if its parent folder doesn't exist.
    private static func makeLast(_ path: String) throws(PublishingError) -> Bool {
        // Make it readable for a web server that runs as another user.
        if mkdir(path, 0o755) == 0 { return true }
        let (code, failure) = (errno, PublishingError.writing(path))
        if code == EEXIST, FileState(path: path, followsLinks: true)?.kind == .folder { return true }
        guard code == ENOENT, path != "/" else { throw failure }
        return false
    }
}
