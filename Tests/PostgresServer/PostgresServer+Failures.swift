import CommandRunner
import Foundation

/// Failures and failovers of servers.
extension PostgresServer {
    /// The settings that a server with standbys needs.
    package static let primarySettings = [
        "wal_level": "replica", "max_wal_senders": "4", "hot_standby": "on", "wal_keep_size": "64MB",
    ]
    package static let standbyAccess = ["host replication all 127.0.0.1/32 trust"]

    /// Starts a streaming standby of this server.
    package func standby() throws -> PostgresServer { try PostgresServer(standbyOf: self) }

    /// Promotes a standby to a primary server. Returns when it accepts writes.
    package func promote() throws {
        try tools.run("pg_ctl", ["-D", folder + "/data", "-w", "promote"], in: folder)
    }

    /// Stops all processes of the server with SIGSTOP. It then accepts connections and never answers.
    package func freeze() throws { try signal("-STOP") }

    package func thaw() throws { try signal("-CONT") }

    private func signal(_ name: String) throws {
        let process = try parent()
        // The parent is stopped first, so that it starts no more children.
        try Tool.run("/bin/kill", [name, process])
        try Tool.run("/usr/bin/pkill", [name, "-P", process])
    }

    /// Returns the IDs of the server's processes, from Linux.
    package func processes() throws -> [Int32] {
        let parent = try parent()
        return try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter { process in
            guard "\(process)" != parent else { return true }
            let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
            // After the name, which is in parentheses, come the state and the parent's ID.
            return text.split(separator: ")").last?.split(separator: " ").dropFirst().first.map(String.init) == parent
        }
    }

    private func parent() throws -> String {
        let text = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
        guard let process = text.split(separator: "\n").first.map(String.init) else {
            throw PostgresServerError("the server doesn't run")
        }
        return process
    }
}
