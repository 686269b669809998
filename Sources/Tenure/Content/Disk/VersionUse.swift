import Foundation
import TenureCore

/// Records which processes have returned URLs of a version to the app. While one of these processes runs, the version's
/// files stay on the disk.
enum VersionUse {
    /// The versions that this process uses. The files on the disk aren't enough: an earlier process may have had the
    /// same process ID.
    private static let versionsInUse = Locked<Set<String>>([])

    /// Records that this process uses a version.
    static func note(_ version: String, inFolder folder: String, at now: Date) {
        let users = folder + "/users"
        let name = "\(users)/\(version).\(getpid())"
        guard versionsInUse.withLock({ $0.insert(name).inserted }) else { return }
        try? Disk.makeFolder(users)
        try? Disk.replace(name, with: Data("\(now.timeIntervalSince1970)".utf8), isLasting: false)
    }

    /// Renews the files that record the uses of this process. A file that wasn't renewed for a week is ignored: its
    /// process may have ended, and another process may have the same process ID.
    static func renew(at now: Date) {
        for name in versionsInUse.withLock({ $0 }) where Disk.exists(name) {
            try? Disk.replace(name, with: Data("\(now.timeIntervalSince1970)".utf8), isLasting: false)
        }
    }

    /// Whether a running process uses a version. Removes the files of processes that no longer use it.
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
            // For this process, don't rely on the dates of files: the clock may have been changed.
            if process == getpid()
                ? versionsInUse.withLock({ $0.contains(path) }) : process > 0 && isRecent && isRunning(process)
            {
                isUsed = true
            } else {
                Disk.remove(path)
            }
        }
        return isUsed
    }

    /// The time in seconds after which a file that wasn't renewed is ignored.
    private static let maximumUseDuration: TimeInterval = 7 * 86_400

    static func isRunning(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno != ESRCH }
}
