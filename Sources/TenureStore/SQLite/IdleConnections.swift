import Foundation

/// Connections past the general-purpose layer, opened as they are needed and kept for the next caller: each reads the
/// whole schema when it opens, which takes as long as hundreds of rows.
///
/// Callers block while they have one, so there are never more than threads.
final class IdleConnections<Connection>: @unchecked Sendable {
    // Sound: `idle` and `isClosed` are touched under the lock only, and a connection is in the hands of one caller at a
    // time: it is taken out of `idle` before it is used, and put back afterwards.
    private let lock = NSLock()
    private var idle: [Connection] = []
    private var isClosed = false
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
        let isClosed = isClosed
        lock.unlock()
        if isClosed { throw StoreError.failed("the record is closed") }
        if let connection { return connection }
        return try open()
    }

    private func putBack(_ connection: Connection) {
        lock.lock()
        if !isClosed { idle.append(connection) }
        lock.unlock()
    }

    func close() {
        lock.lock()
        isClosed = true
        idle.removeAll()
        lock.unlock()
    }
}
