import CommandRunner
import Foundation

/// What happens to servers.
extension PostgresServer {
    /// Settings and access that a server with standbys needs.
    package static let primarySettings = [
        "wal_level": "replica", "max_wal_senders": "4", "hot_standby": "on", "wal_keep_size": "64MB",
    ]
    package static let standbyAccess = ["host replication all 127.0.0.1/32 trust"]

    /// Starts a streaming standby of this server.
    package func standby() throws -> PostgresServer { try PostgresServer(standbyOf: self) }

    /// Makes a standby a primary server. Returns when it takes writes.
    package func promote() throws {
        try tools.run("pg_ctl", ["-D", folder + "/data", "-w", "promote"], in: folder)
    }

    /// Stops all of its processes as they are: it accepts connections and never answers.
    package func freeze() throws { try signal("-STOP") }

    package func thaw() throws { try signal("-CONT") }

    private func signal(_ name: String) throws {
        let process = try parent()
        // The parent first, so that it starts no more children.
        try Tool.run("/bin/kill", [name, process])
        try Tool.run("/usr/bin/pkill", [name, "-P", process])
    }

    /// The IDs of its processes, from Linux.
    package func processes() throws -> [Int32] {
        let parent = try parent()
        return try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter { process in
            guard "\(process)" != parent else { return true }
            let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
            // After the name, which is in parentheses, come the state and the parent.
            return text.split(separator: ")").last?.split(separator: " ").dropFirst().first.map(String.init) == parent
        }
    }

    private func parent() throws -> String {
        let text = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
        guard let process = text.split(separator: "\n").first.map(String.init) else {
            throw PostgresServerError("the server does not run")
        }
        return process
    }
}
