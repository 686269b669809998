import Foundation

/// A PostgreSQL server for tests, on a free loopback port, in a temporary folder.
///
/// The server flushes as a server in production does. It is stopped and removed when this object is deallocated, and
/// when the process ends in any way.
package final class PostgresServer: Sendable {
    package let port: Int
    let folder: String
    let tools: PostgresTools
    /// A file handle that is open as long as this process lives. The watching process waits until the handle is closed.
    private let watch: FileHandle

    /// A server that all tests of a process share. No test may stop the server.
    package static func shared() throws -> PostgresServer { try sharedServer.get() }

    private static let sharedServer = Result { try PostgresServer() }

    /// - Parameters:
    ///   - settings: settings of `postgresql.conf`.
    ///   - access: lines of `pg_hba.conf`, before the lines that trust every client.
    ///   - certificate: PEM files for TLS.
    ///   - parent: the folder for the server's folder; by default the system's folder for temporary files.
    package init(
        settings: [String: String] = [:], access: [String] = [], certificate: (chain: String, key: String)? = nil,
        in parent: String? = nil
    ) throws {
        tools = try PostgresTools.find()
        folder = Self.newFolderName(in: parent)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        port = try Self.freePort()
        watch = try tools.keepWatch(over: folder)
        try tools.giveAway(folder)
        let basics = [
            "-D", folder + "/data", "-U", "tenure", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync",
        ]
        do {
            // Most servers sort texts by the rules of a language, and not by their bytes.
            try tools.run("initdb", basics + ["--locale-provider=icu", "--icu-locale=en"], in: folder)
        } catch {
            // PostgreSQL before version 15, or built without ICU, has no such option.
            try? FileManager.default.removeItem(atPath: folder + "/data")
            try tools.run("initdb", basics, in: folder)
        }
        var all = [
            "listen_addresses": "127.0.0.1", "port": "\(port)", "unix_socket_directories": folder,
            "max_connections": "300", "shared_buffers": "64MB", "wal_level": "minimal", "max_wal_senders": "0",
            "deadlock_timeout": "200ms", "lc_messages": "C", "log_min_messages": "fatal",
        ]
        if let certificate {
            // The key must belong to the server's user, and no other user may read it.
            for (name, path) in [("server.crt", certificate.chain), ("server.key", certificate.key)] {
                let copy = folder + "/" + name
                try FileManager.default.copyItem(atPath: path, toPath: copy)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
                try tools.giveAway(copy)
            }
            all["ssl"] = "on"
            all["ssl_cert_file"] = folder + "/server.crt"
            all["ssl_key_file"] = folder + "/server.key"
        }
        all.merge(settings) { $1 }
        try append(all.sorted { $0.key < $1.key }.map { "\($0) = '\($1)'" }, to: "postgresql.conf")
        let trust = ["local all all trust", "host all all 127.0.0.1/32 trust"]
        try Data((access + trust).joined(separator: "\n").appending("\n").utf8)
            .write(to: URL(fileURLWithPath: folder + "/data/pg_hba.conf"))
        try tools.giveAway(folder + "/data/pg_hba.conf")
        try start()
    }

    /// Creates a streaming standby of a primary server.
    init(standbyOf primary: PostgresServer) throws {
        tools = primary.tools
        folder = Self.newFolderName()
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        port = try Self.freePort()
        watch = try tools.keepWatch(over: folder)
        try tools.giveAway(folder)
        try tools.run(
            "pg_basebackup",
            [
                "-h", "127.0.0.1", "-p", "\(primary.port)", "-U", "tenure", "-D", folder + "/data", "-R", "-X",
                "stream",
                "-c", "fast", "--no-sync",
            ], in: folder)
        var settings = ["port = '\(port)'", "unix_socket_directories = '\(folder)'"]
        if FileManager.default.fileExists(atPath: primary.folder + "/server.crt") {
            for name in ["server.crt", "server.key"] {
                try FileManager.default.copyItem(atPath: primary.folder + "/" + name, toPath: folder + "/" + name)
                try tools.giveAway(folder + "/" + name)
            }
            settings += ["ssl_cert_file = '\(folder)/server.crt'", "ssl_key_file = '\(folder)/server.key'"]
        }
        try append(settings, to: "postgresql.conf")
        try start()
    }

    deinit { try? watch.close() }

    /// Returns the URL of a database. `options` are options of the URL, such as `schema=one&sslmode=require`.
    package func url(user: String = "tenure", database: String = "postgres", _ options: String = "") -> String {
        "postgres://\(user)@127.0.0.1:\(port)/\(database)" + (options.isEmpty ? "" : "?" + options)
    }

    // MARK: Start and stop

    /// Starts the server. Returns when it accepts connections.
    package func start() throws {
        try tools.startServer(in: folder)
    }

    /// Restarts the server as a standby without a primary server, which accepts no writes.
    package func becomeStandby() throws {
        try stop(.fast)
        let mark = folder + "/data/standby.signal"
        try Data().write(to: URL(fileURLWithPath: mark))
        try tools.giveAway(mark)
        try start()
    }

    package func createDatabase(_ name: String) throws {
        try tools.run("createdb", ["-h", "127.0.0.1", "-p", "\(port)", "-U", "tenure", name], in: folder)
    }

    /// Runs statements as the owner of the server.
    package func run(_ sql: String) throws {
        try tools.run(
            "psql",
            ["-h", "127.0.0.1", "-p", "\(port)", "-U", "tenure", "-v", "ON_ERROR_STOP=1", "-c", sql, "postgres"],
            in: folder)
    }

    /// How a test stops the server.
    package enum Stop: String, Sendable {
        /// Ends connections and transactions in order.
        case fast
        /// Stops as if the machine had lost its power. The next start recovers the database.
        case immediate
    }

    /// Stops the server. Returns when it has ended.
    package func stop(_ mode: Stop) throws {
        try tools.run("pg_ctl", ["-D", folder + "/data", "-m", mode.rawValue, "-w", "stop"], in: folder)
    }

    /// Returns a new folder with a short path: paths of Unix sockets have at most 107 bytes. The server's user may not
    /// be able to read another user's folder.
    private static func newFolderName(in given: String? = nil) -> String {
        let temporary = FileManager.default.isWritableFile(atPath: "/tmp") ? "/tmp/" : NSTemporaryDirectory()
        return (given.map { $0 + "/" } ?? temporary) + "tenure-pg-" + UUID().uuidString.prefix(8)
    }

    private func append(_ lines: [String], to name: String) throws {
        let path = folder + "/data/" + name
        let text = try String(contentsOfFile: path, encoding: .utf8) + lines.joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try tools.giveAway(path)
    }

    /// Returns a port on which no process listens now.
    static func freePort() throws -> Int {
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let socket = socket(AF_INET, kind, 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, length) == 0 && getsockname(socket, pointer, &length) == 0
            }
        }
        guard isBound else { throw PostgresServerError("no port is free on 127.0.0.1") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

package struct PostgresServerError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
