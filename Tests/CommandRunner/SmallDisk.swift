import Foundation

/// A small file system in memory, for as long as it is used.
package final class SmallDisk: Sendable {
    package let path: String

    /// Whether this process may mount.
    package static let isAllowed = (try? SmallDisk(size: "1m")) != nil

    /// - Parameter mode: of its root.
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
