import Foundation
import TenureCore

/// Records which processes have given the app URLs of files in an installed version of an asset pack. While one of
/// these processes runs, the files of this version stay on the disk.
///
/// A version is identified by the name of its folder. For each process and version there is a marker, which is a file:
/// see `PackStore`.
enum VersionUse {
    /// The paths of the markers that this process wrote. The markers on the disk aren't enough: an earlier process may
    /// have had the same process ID.
    private static let markerPaths = Locked<Set<String>>([])

    /// Records that this process uses a version.
    ///
    /// - Parameters:
    ///   - version: the name of the version's folder.
    ///   - folder: the folder of the pack.
    static func note(_ version: String, inFolder folder: String, at now: Date) {
        let users = folder + "/users"
        let name = "\(users)/\(version).\(getpid())"
        guard markerPaths.withLock({ $0.insert(name).inserted }) else { return }
        try? Disk.makeFolder(users)
        try? Disk.replace(name, with: Data("\(now.timeIntervalSince1970)".utf8), isLasting: false)
    }

    /// Renews the markers of this process. A marker that wasn't renewed for a week is ignored: its process may have
    /// ended, and another process may have the same process ID.
    static func renew(at now: Date) {
        for name in markerPaths.withLock({ $0 }) where Disk.exists(name) {
            try? Disk.replace(name, with: Data("\(now.timeIntervalSince1970)".utf8), isLasting: false)
        }
    }

    /// Whether a running process uses a version. Removes the markers of processes that no longer use it.
    static func isUsed(_ version: String, inFolder folder: String, at now: Date = Date()) -> Bool {
        let users = folder + "/users"
        var isUsed = false
        for name in Disk.names(in: users) where name.hasPrefix(version + ".") {
            let path = users + "/" + name
            let process = Int32(name.dropFirst(version.utf8.count + 1)) ?? 0
            let recordedAt = Disk.contents(of: path, maximumSize: 64).flatMap {
                Double(String(decoding: $0, as: UTF8.self))
            }
            let isRecent = recordedAt.map { abs(now.timeIntervalSince1970 - $0) < maximumUseDuration } ?? false
            // For this process, don't rely on the dates of markers: the clock may have been changed.
            let isValid =
                process == getpid()
                ? markerPaths.withLock { $0.contains(path) } : process > 0 && isRecent && isRunning(process)
            if isValid { isUsed = true } else { Disk.remove(path) }
        }
        return isUsed
    }

    /// The time in seconds for which a marker is valid after its last renewal.
    private static let maximumUseDuration: TimeInterval = 7 * 86_400

    /// Whether a process with this ID is running.
    static func isRunning(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno != ESRCH }
}
