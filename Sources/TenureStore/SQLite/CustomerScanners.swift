import Foundation
import GRDBSQLite

/// Connections that read rows of many customers, one after the other, past the general-purpose layer: that costs several
/// times as much for a row as SQLite does. As many as read side by side.
final class CustomerScanners: @unchecked Sendable {
    // Sound: `idle` and `isClosed` are touched between `lock.lock()` and `lock.unlock()` only, and a connection is in
    // the hands of one caller at a time: it is taken out of `idle` before it is used, and put back afterwards.
    private let lock = NSLock()
    private var idle: [CustomerScanner] = []
    private var isClosed = false
    private let path: String

    init(path: String) {
        self.path = path
    }

    func forEachCustomer(
        after id: Int64, through last: Int64,
        _ body: (UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        // Each reads the whole schema when it opens, which takes as long as hundreds of rows.
        let scanner = try take()
        defer { putBack(scanner) }
        try scanner.forEachCustomer(after: id, through: last, body)
    }

    private func take() throws(StoreError) -> CustomerScanner {
        lock.lock()
        let scanner = idle.popLast()
        let isClosed = isClosed
        lock.unlock()
        if isClosed { throw StoreError.failed("the record is closed") }
        if let scanner { return scanner }
        return try CustomerScanner(path: path)
    }

    private func putBack(_ scanner: CustomerScanner) {
        lock.lock()
        if !isClosed { idle.append(scanner) }
        lock.unlock()
    }

    func close() {
        lock.lock()
        isClosed = true
        idle.removeAll()
        lock.unlock()
    }
}

/// One connection with one prepared statement.
private final class CustomerScanner {
    private let connection: SQLiteConnection
    private let statement: OpaquePointer

    init(path: String) throws(StoreError) {
        let connection = try SQLiteConnection(path: path, for: .reading)
        var statement: OpaquePointer?
        let sql = """
            SELECT realm, public_id, facts FROM customers WHERE id > ? AND id <= ? AND merged_into IS NULL ORDER BY id
            """
        guard
            sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
                == SQLITE_OK, let statement
        else { throw StoreError(of: connection.handle) }
        self.connection = connection
        self.statement = statement
    }

    deinit {
        sqlite3_finalize(statement)
    }

    func forEachCustomer(
        after id: Int64, through last: Int64,
        _ body: (UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        // Ends the read transaction, so that it holds no old snapshot.
        defer { sqlite3_reset(statement) }
        sqlite3_bind_int64(statement, 1, id)
        sqlite3_bind_int64(statement, 2, last)
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: break
            case SQLITE_DONE: return
            default: throw StoreError(of: connection.handle)
            }
            // Pointers into the row: valid until the next step, and read before that.
            let realm = UInt8(clamping: sqlite3_column_int64(statement, 0))
            let publicID = UnsafeRawBufferPointer(
                start: sqlite3_column_text(statement, 1), count: Int(sqlite3_column_bytes(statement, 1)))
            let facts = UnsafeRawBufferPointer(
                start: sqlite3_column_blob(statement, 2), count: Int(sqlite3_column_bytes(statement, 2)))
            try body(realm, publicID, facts)
        }
    }
}
