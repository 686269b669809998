import Foundation

/// One server, and which of the connections to it still count.
final class PostgresHost: @unchecked Sendable {
    // Sound: `drops` is touched between locking and unlocking only.
    let name: PostgresHostName
    private let lock = NSLock()
    private var drops = 0

    init(_ name: PostgresHostName) {
        self.name = name
    }

    /// A connection counts as long as this is what it was when the connection was opened.
    var generation: Int {
        lock.lock()
        defer { lock.unlock() }
        return drops
    }

    /// Ends all connections to this server, also those that wait for an answer: it gave none to one of them, takes no
    /// writes any more, or another server took its place.
    func dropConnections() {
        lock.lock()
        drops += 1
        lock.unlock()
    }
}
