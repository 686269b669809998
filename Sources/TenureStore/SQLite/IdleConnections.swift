import Foundation

/// A cache of open connections. Opening a connection reads the whole schema, which takes as long as reading hundreds of
/// rows.
///
/// A caller blocks its thread while it uses a connection, so there are never more connections than threads.
final class IdleConnections<Connection>: @unchecked Sendable {
    // Sound: `idle` and `end` are used only under the lock. A connection has one caller at a time, who takes it out of
    // `idle` and puts it back.
    private let lock = NSLock()
    private var idle: [Connection] = []
    /// The error that callers get after `close`.
    private var end: StoreError?
    private let open: @Sendable () throws(StoreError) -> Connection

    init(_ open: @escaping @Sendable () throws(StoreError) -> Connection) {
        self.open = open
    }

    func use<Value>(_ body: (Connection) throws(StoreError) -> Value) throws(StoreError) -> Value {
        let connection = try take()
        defer { putBack(connection) }
        return try body(connection)
    }

    private func take() throws(StoreError) -> Connection {
        lock.lock()
        let connection = idle.popLast()
        let end = end
        lock.unlock()
        if let end { throw end }
        if let connection { return connection }
        return try open()
    }

    private func putBack(_ connection: Connection) {
        lock.lock()
        if end == nil { idle.append(connection) }
        lock.unlock()
    }

    /// Later callers get this error.
    func close(_ error: StoreError = .failed("the database is closed")) {
        lock.lock()
        end = end ?? error
        idle.removeAll()
        lock.unlock()
    }
}
