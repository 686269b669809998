import Foundation
import TenureCore

/// Which processes have handed out URLs of a version. Its files stay while one of them runs.
enum VersionUse {
    /// The versions that this process uses. An earlier process may have had the same number.
    private static let own = Locked<Set<String>>([])

    /// Notes that this process uses a version.
    static func note(_ version: String, inFolder folder: String, at now: Date) {
        let users = folder + "/users"
        let name = "\(users)/\(version).\(getpid())"
        guard own.withLock({ $0.insert(name).inserted }) else { return }
        try? Disk.makeFolder(users)
        try? Disk.replace(name, with: Data("\(now.timeIntervalSince1970)".utf8), isLasting: false)
    }

    /// Notes again what this process uses. A process that doesn't for a week counts as ended: another one may have its
    /// number.
    static func renew(at now: Date) {
        for name in own.withLock({ $0 }) where Disk.exists(name) {
            try? Disk.replace(name, with: Data("\(now.timeIntervalSince1970)".utf8), isLasting: false)
        }
    }

    static func isUsed(_ version: String, inFolder folder: String, at now: Date = Date()) -> Bool {
        let users = folder + "/users"
        var isUsed = false
        for name in Disk.names(in: users) where name.hasPrefix(version + ".") {
            let path = users + "/" + name
            let process = Int32(name.dropFirst(version.utf8.count + 1)) ?? 0
            let noted = Disk.contents(of: path, most: 64).flatMap { Double(String(decoding: $0, as: UTF8.self)) }
            let isRecent = noted.map { abs(now.timeIntervalSince1970 - $0) < longestUse } ?? false
            // This process knows what it uses, however long it runs, and whatever the clock shows.
            if process == getpid() ? own.withLock({ $0.contains(path) }) : process > 0 && isRecent && isRunning(process)
            {
                isUsed = true
            } else {
                Disk.remove(path)
            }
        }
        return isUsed
    }

    /// Another process may have the number of one that ended. In seconds.
    private static let longestUse: TimeInterval = 7 * 86_400

    static func isRunning(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno != ESRCH }
}
