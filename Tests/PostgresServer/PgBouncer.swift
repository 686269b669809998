import Foundation

/// A PgBouncer between the tests and a PostgreSQL server, on a free loopback port.
///
/// It is stopped and removed when the object goes, and when the process ends in any way.
package final class PgBouncer: Sendable {
    package enum Mode: String, Sendable, CaseIterable {
        case session, transaction, statement
    }

    package let port: Int
    /// Open as long as this process lives.
    private let watch: FileHandle

    /// - Parameter connections: how many connections to the server all clients of a database share.
    package init(before server: PostgresServer, mode: Mode, connections: Int) throws {
        let tools = try PostgresTools.find()
        let parent = FileManager.default.isWritableFile(atPath: "/tmp") ? "/tmp/" : NSTemporaryDirectory()
        let folder = parent + "tenure-bouncer-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        port = try PostgresServer.freePort()
        let settings = """
            [databases]
            * = host=127.0.0.1 port=\(server.port)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = trust
            auth_file = \(folder)/users
            pool_mode = \(mode.rawValue)
            default_pool_size = \(connections)
            max_client_conn = 200
            logfile = \(folder)/log
            pidfile = \(folder)/pid

            """
        for (name, text) in [("pgbouncer.ini", settings), ("users", "\"tenure\" \"\"\n")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
            try tools.giveAway(folder + "/" + name)
        }
        try tools.giveAway(folder)
        watch = try tools.startPooler(in: folder)
    }

    deinit { try? watch.close() }

    /// Where to connect. `options` are those of a URL, as in `schema=one`.
    package func url(database: String = "postgres", _ options: String = "") -> String {
        "postgres://tenure@127.0.0.1:\(port)/\(database)" + (options.isEmpty ? "" : "?" + options)
    }
}
