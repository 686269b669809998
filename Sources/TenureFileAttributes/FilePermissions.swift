import Foundation

/// Reads the permissions and the owner of a file.
package enum FilePermissions {
    /// Returns whether too many users have access to an open file. Also returns true if its permissions can't be read.
    ///
    /// Only the owner may read and write the file. If root owns the file, its group may also read it, because
    /// Kubernetes gives secrets to a container in this way (`fsGroup`). Callers pass an open file, so symbolic links
    /// work, and the file can't be replaced between this check and the reading.
    package static func areOpenToOthers(_ descriptor: CInt) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return true }
        return areOpenToOthers(mode: UInt32(status.st_mode), isOwnedByRoot: status.st_uid == 0)
    }

    /// Returns the owner of the file at a path; nil if it doesn't exist.
    package static func owner(ofFileAt path: String) -> (user: UInt32, group: UInt32)? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return (status.st_uid, status.st_gid)
    }

    /// The same check for a file with this mode (`st_mode`) and owner.
    package static func areOpenToOthers(mode: UInt32, isOwnedByRoot: Bool) -> Bool {
        mode & (isOwnedByRoot ? 0o037 : 0o077) != 0
    }
}
