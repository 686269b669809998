import TenureCore

/// One of a cluster's servers, with a counter that tells which connections to the server are still valid.
final class PostgresHost: Sendable {
    let name: PostgresHostName
    /// How many times all connections were dropped.
    private let drops = Locked(0)

    init(_ name: PostgresHostName) { self.name = name }

    /// A number that grows when all connections are dropped. A connection is valid as long as the number is the same as
    /// when the connection was opened.
    var generation: Int { drops.withLock { $0 } }

    /// Ends all connections to this server, even connections that wait for an answer. Called if the server didn't
    /// answer on one of them, no longer accepts writes, or was replaced by another server.
    func dropConnections() { drops.withLock { $0 += 1 } }
}
