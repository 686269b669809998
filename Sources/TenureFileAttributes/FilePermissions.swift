import Foundation

/// Reads the permissions and the owner of a file.
package enum FilePermissions {
    /// Returns whether an open file with a secret is accessible to users who must not know the secret. Also returns
    /// true if the permissions can't be read.
    ///
    /// Only the owner may have access. If root owns the file, the file's group may also read it, because Kubernetes
    /// gives secrets to a container in this way (`fsGroup`). Callers pass an open file, so symbolic links work, and the
    /// file can't be replaced between this check and the reading.
    package static func areOpenToOthers(_ descriptor: CInt) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return true }
        return areOpenToOthers(mode: UInt32(status.st_mode), isOwnedByRoot: status.st_uid == 0)
    }

    /// Returns whether such users have access to a file with the `st_mode` `mode`.
    package static func areOpenToOthers(mode: UInt32, isOwnedByRoot: Bool) -> Bool {
        mode & (isOwnedByRoot ? 0o037 : 0o077) != 0
    }

    /// Returns the IDs of the user and group that own the file at a path, following links; nil if the file doesn't
    /// exist.
    package static func owner(ofFileAt path: String) -> (user: UInt32, group: UInt32)? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return (status.st_uid, status.st_gid)
    }
}
