import Foundation
import GRDBSQLite

/// Connections that read the rows of many customers, without the general-purpose layer, which takes several times as
/// long for a row as SQLite.
struct CustomerScanners: Sendable {
    private let connections: IdleConnections<CustomerScanner>

    init(path: String) {
        connections = IdleConnections { () throws(StoreError) in try CustomerScanner(path: path) }
    }

    func forEachCustomer(
        after id: Int64, through last: Int64,
        _ body: (UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        try connections.use { scanner throws(StoreError) in
            try scanner.forEachCustomer(after: id, through: last, body)
        }
    }

    func close(_ error: StoreError = .failed("the database is closed")) { connections.close(error) }
}

/// One connection with one prepared statement.
private final class CustomerScanner {
    private let connection: SQLiteConnection
    private let statement: OpaquePointer

    init(path: String) throws(StoreError) {
        let connection = try SQLiteConnection(path: path, for: .reading)
        var statement: OpaquePointer?
        let sql = """
            SELECT realm, public_id, facts FROM customers WHERE id > ? AND id <= ? AND merged_into IS NULL
            AND \(DatabaseTransaction.isNotUnbound) ORDER BY id
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
