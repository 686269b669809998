import Foundation

/// A small file system in memory, for tests of full disks. It is unmounted when this object is deallocated.
package final class SmallDisk: Sendable {
    package let path: String

    /// Whether this process may mount file systems.
    package static let isAllowed = (try? SmallDisk(size: "1m")) != nil

    /// - Parameters:
    ///   - size: the size of the file system, such as `1m`.
    ///   - mode: the permissions of its root folder.
    package init(size: String, mode: String = "700") throws {
        path = NSTemporaryDirectory() + "tenure-disk-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard try Self.run("mount", "-t", "tmpfs", "-o", "size=\(size),mode=\(mode)", "tmpfs", path) else {
            try? FileManager.default.removeItem(atPath: path)
            throw CocoaError(.featureUnsupported)
        }
    }

    deinit {
        _ = try? Self.run("umount", "-l", path)
        try? FileManager.default.removeItem(atPath: path)
    }

    package func remount(_ options: String) throws -> Bool { try Self.run("mount", "-o", "remount,\(options)", path) }

    private static func run(_ arguments: String...) throws -> Bool {
        try Tool.run("/usr/bin/env", arguments).status == 0
    }
}
