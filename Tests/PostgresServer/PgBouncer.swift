import Foundation

/// A PgBouncer between the tests and a PostgreSQL server, on a free loopback port.
///
/// The pooler is stopped and removed when this object is deallocated, and when the process ends in any way.
package final class PgBouncer: Sendable {
    /// PgBouncer's setting `pool_mode`.
    package enum Mode: String, Sendable, CaseIterable {
        case session, transaction, statement
    }

    package let port: Int
    private let folder: String
    private let tools: PostgresTools
    private let mode: Mode
    private let connections: Int
    /// A file handle that is open as long as this process lives.
    private let watch: FileHandle

    /// - Parameters:
    ///   - connections: how many connections to the server all clients of a database share.
    ///   - database: the server's database behind the pooler's database `shop`; see `lead`.
    package init(before server: PostgresServer, mode: Mode, connections: Int, shop database: String? = nil) throws {
        self.mode = mode
        self.connections = connections
        tools = try PostgresTools.find()
        let parent = FileManager.default.isWritableFile(atPath: "/tmp") ? "/tmp/" : NSTemporaryDirectory()
        folder = parent + "tenure-bouncer-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        port = try PostgresServer.freePort()
        try Self.write("\"tenure\" \"\"\n", to: folder + "/users", tools)
        try Self.write(
            Self.settings(server, database, port: port, mode, connections, in: folder), to: folder + "/pgbouncer.ini",
            tools)
        try tools.giveAway(folder)
        watch = try tools.startPooler(in: folder)
    }

    deinit { try? watch.close() }

    /// Leads the database `shop` to a database of the server, also for clients that are connected already.
    package func lead(to server: PostgresServer, database: String) throws {
        try Self.write(
            Self.settings(server, database, port: port, mode, connections, in: folder), to: folder + "/pgbouncer.ini",
            tools)
        // SIGHUP wouldn't work: the processes that tests start may inherit it as blocked.
        try tools.run(
            "psql", ["-h", "127.0.0.1", "-p", "\(port)", "-U", "tenure", "-c", "RELOAD", "pgbouncer"], in: folder)
    }

    private static func write(_ text: String, to path: String, _ tools: PostgresTools) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try tools.giveAway(path)
    }

    private static func settings(
        _ server: PostgresServer, _ database: String?, port: Int, _ mode: Mode, _ connections: Int, in folder: String
    ) -> String {
        let target = "host=127.0.0.1 port=\(server.port)"
        return """
            [databases]
            \(database.map { "shop = \(target) dbname=\($0)" } ?? "")
            * = \(target)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = trust
            auth_file = \(folder)/users
            admin_users = tenure
            pool_mode = \(mode.rawValue)
            default_pool_size = \(connections)
            max_client_conn = 200
            logfile = \(folder)/log
            pidfile = \(folder)/pid

            """
    }

    /// Returns the URL of a database. `options` are options of the URL, such as `schema=one`.
    package func url(database: String = "postgres", _ options: String = "") -> String {
        "postgres://tenure@127.0.0.1:\(port)/\(database)" + (options.isEmpty ? "" : "?" + options)
    }
}
