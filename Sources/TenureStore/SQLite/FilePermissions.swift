import Foundation

/// The permissions of an open file. They are read here because the compiler attributes `stat` to another module in each
/// target that imports SwiftNIO.
package enum FilePermissions {
    /// Returns whether anybody but the file's owner may use it, or whether that can't be found out.
    package static func areOpenToOthers(_ descriptor: CInt) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_mode & 0o077 != 0
    }
}
