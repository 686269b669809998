import Foundation

/// One server, and a counter that tells which connections to it are still valid.
final class PostgresHost: @unchecked Sendable {
    // `@unchecked Sendable` is correct: `drops` is used only while the lock is held.
    let name: PostgresHostName
    private let lock = NSLock()
    private var drops = 0

    init(_ name: PostgresHostName) {
        self.name = name
    }

    /// Grows when all connections are dropped. A connection is valid as long as it was opened with this value.
    var generation: Int {
        lock.lock()
        defer { lock.unlock() }
        return drops
    }

    /// Ends all connections to this server, even those that wait for an answer. Called if the server didn't answer on one
    /// of them, no longer accepts writes, or was replaced by another server.
    func dropConnections() {
        lock.lock()
        drops += 1
        lock.unlock()
    }
}
