import CommandRunner
import Foundation

/// PostgreSQL's programs, and the user that runs the programs. PostgreSQL's programs refuse to run as root.
struct PostgresTools: Sendable {
    private let folder: String
    /// The user that runs the programs; nil if this process doesn't run as root.
    private let user: User?

    /// A user of the operating system.
    private struct User {
        let name: String
        let id: uid_t
        let group: gid_t
    }

    static func find() throws -> PostgresTools {
        let files = FileManager.default
        let versions = ["/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt", "/usr/local/opt"].flatMap {
            root in
            ((try? files.contentsOfDirectory(atPath: root)) ?? []).sorted {
                $0.compare($1, options: .numeric) == .orderedDescending
            }
            .map { "\(root)/\($0)/bin" }
        }
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let folder = (versions + path).first { folder in
            ["initdb", "pg_ctl", "postgres"].allSatisfy { files.isExecutableFile(atPath: "\(folder)/\($0)") }
        }
        guard let folder else {
            throw PostgresServerError("no PostgreSQL is installed; run `Scripts/install-dependencies test`")
        }
        guard geteuid() == 0 else { return PostgresTools(folder: folder, user: nil) }
        for name in ["postgres", "nobody"] {
            if let entry = getpwnam(name) {
                return PostgresTools(
                    folder: folder, user: User(name: name, id: entry.pointee.pw_uid, group: entry.pointee.pw_gid))
            }
        }
        throw PostgresServerError("PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody`")
    }

    /// Makes the server's user the owner of a file or folder.
    func giveAway(_ path: String) throws {
        guard let user else { return }
        guard chown(path, user.id, user.group) == 0 else { throw PostgresServerError("can't give `\(path)` away") }
    }

    /// The command line of a tool.
    private func line(_ tool: String, _ arguments: [String]) -> [String] {
        asUser(["\(folder)/\(tool)"] + arguments)
    }

    private func asUser(_ line: [String]) -> [String] {
        let prefix = user.map {
            ["/usr/bin/env", "setpriv", "--reuid=\($0.id)", "--regid=\($0.group)", "--clear-groups", "--"]
        }
        return (prefix ?? []) + line
    }

    /// Runs a tool to its end. Throws its output if it fails.
    func run(_ tool: String, _ arguments: [String], in directory: String) throws {
        let output = directory + "/" + tool + ".out"
        try Data().write(to: URL(fileURLWithPath: output))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        let process = Self.process(line(tool, arguments), in: directory)
        process.standardOutput = file
        process.standardError = file
        try process.start()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let said = ["\(tool).out", "log"].map {
                (try? String(contentsOfFile: directory + "/" + $0, encoding: .utf8)) ?? ""
            }
            throw PostgresServerError("`\(tool)` failed: \(said.joined(separator: "\n"))")
        }
    }

    /// Starts the server. Returns when it accepts connections.
    ///
    /// This doesn't use `pg_ctl`: the server would then keep the sockets to this process open, and `run` would wait for
    /// their end.
    func startServer(in directory: String) throws {
        let log = directory + "/log"
        try Data().write(to: URL(fileURLWithPath: log))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        let process = Self.process(line("postgres", ["-D", directory + "/data"]), in: directory)
        process.standardOutput = file
        process.standardError = file
        try process.start()
        // The last line of this file has the server's state. `pg_ctl` reads it, too.
        let status = directory + "/data/postmaster.pid"
        for _ in 0..<3000 where process.isRunning {
            let lines = ((try? String(contentsOfFile: status, encoding: .utf8)) ?? "").split(separator: "\n")
            let isReady = ["ready", "standby"].contains { lines.last?.hasPrefix($0) == true }
            if lines.first == "\(process.processIdentifier)", isReady { return }
            usleep(20_000)
        }
        let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        throw PostgresServerError("PostgreSQL didn't start: \(said)")
    }

    /// Starts a process that stops the server and removes its folder when the handle is closed. The system closes the
    /// handle when this process ends.
    func keepWatch(over directory: String) throws -> FileHandle {
        // Frozen processes can't handle the signal to stop, so they are continued first.
        let wake = "pid=$(head -n 1 '\(directory)/data/postmaster.pid') && kill -CONT $pid && pkill -CONT -P $pid; "
        let stop = line("pg_ctl", ["-D", directory + "/data", "-m", "immediate", "-w", "stop"])
        return try keepWatch(over: directory, stop: ["/bin/sh", "-c", wake + "exec \"$@\"", "sh"] + stop)
    }

    private func keepWatch(over directory: String, stop: [String]) throws -> FileHandle {
        let ends = try Self.pipe()
        let script = "trap '' INT TERM HUP; cd /; cat; \"$@\"; rm -rf '\(directory)'"
        let process = Self.process(["/bin/sh", "-c", script, "sh"] + stop, in: "/")
        process.standardInput = ends.reading
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        return ends.writing
    }

    /// Starts PgBouncer with `pgbouncer.ini` in this folder. The handle stops it and removes the folder when it closes.
    func startPooler(in directory: String) throws -> FileHandle {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let folders = ["/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"] + path
        let programs = folders.map { $0 + "/pgbouncer" }
        guard let program = programs.first(where: FileManager.default.isExecutableFile) else {
            throw PostgresServerError("PgBouncer isn't installed; run `Scripts/install-dependencies test`")
        }
        let watch = try keepWatch(
            over: directory, stop: ["/bin/sh", "-c", "read pid < '\(directory)/pid' && kill -9 \"$pid\""])
        let process = Self.process(asUser([program, directory + "/pgbouncer.ini"]), in: directory)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        for _ in 0..<1500 where process.isRunning {
            let log = (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? ""
            if log.contains("process up") { return watch }
            usleep(20_000)
        }
        let log = (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? ""
        throw PostgresServerError("PgBouncer didn't start: \(log)")
    }

    /// Creates a pipe that child processes don't inherit. They would keep it open.
    private static func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
        #if os(Linux)
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw PostgresServerError("no pipe can be created") }
            return (
                FileHandle(fileDescriptor: ends[0], closeOnDealloc: true),
                FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
            )
        #else
            // On macOS, processes inherit only their standard streams.
            let pipe = Pipe()
            return (pipe.fileHandleForReading, pipe.fileHandleForWriting)
        #endif
    }

    private static func process(_ line: [String], in directory: String) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: line[0])
        process.arguments = Array(line.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.standardInput = FileHandle.nullDevice
        return process
    }
}
