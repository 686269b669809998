import Foundation

/// Connections past the general-purpose layer, opened as they are needed and kept for the next caller: each reads the
/// whole schema when it opens, which takes as long as hundreds of rows.
///
/// Callers block while they have one, so there are never more than threads.
final class IdleConnections<Connection>: @unchecked Sendable {
    // Sound: `idle` and `end` are touched under the lock only, and a connection is in the hands of one caller at a
    // time: it is taken out of `idle` before it is used, and put back afterwards.
    private let lock = NSLock()
    private var idle: [Connection] = []
    /// Why no caller gets a connection any more.
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
    func close(_ error: StoreError = .failed("the record is closed")) {
        lock.lock()
        end = end ?? error
        idle.removeAll()
        lock.unlock()
    }
}
