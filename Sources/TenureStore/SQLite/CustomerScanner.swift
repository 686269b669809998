import Foundation
import GRDBSQLite

/// A connection that reads rows of many customers, one after the other, past the general-purpose layer: that costs
/// several times as much for a row as SQLite does.
final class CustomerScanner {
    private let connection: OpaquePointer
    private let statement: OpaquePointer

    init(path: String) throws(StoreError) {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &connection, flags, nil) == SQLITE_OK, let connection else {
            let detail = connection.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(connection)
            throw StoreError.unavailable(path: path, detail: detail)
        }
        sqlite3_busy_timeout(connection, 5000)
        var statement: OpaquePointer?
        let sql = """
            SELECT realm, public_id, facts FROM customers WHERE id > ? AND id <= ? AND merged_into IS NULL ORDER BY id
            """
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            let detail = String(cString: sqlite3_errmsg(connection))
            sqlite3_close_v2(connection)
            throw StoreError.failed(detail)
        }
        self.connection = connection
        self.statement = statement
    }

    deinit {
        sqlite3_finalize(statement)
        sqlite3_close_v2(connection)
    }

    func page(after id: Int64, through last: Int64) throws(StoreError) -> CustomerPage {
        defer { sqlite3_reset(statement) }
        sqlite3_bind_int64(statement, 1, id)
        sqlite3_bind_int64(statement, 2, last)
        var page = CustomerPage()
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: break
            case SQLITE_DONE: return page
            case SQLITE_BUSY, SQLITE_LOCKED: throw StoreError.busy
            case SQLITE_CORRUPT, SQLITE_NOTADB: throw StoreError.damaged(String(cString: sqlite3_errmsg(connection)))
            default: throw StoreError.failed(String(cString: sqlite3_errmsg(connection)))
            }
            // Pointers into the row: valid until the next step, and read before that.
            page.add(
                realm: UInt8(clamping: sqlite3_column_int64(statement, 0)),
                publicID: UnsafeBufferPointer(
                    start: sqlite3_column_text(statement, 1), count: Int(sqlite3_column_bytes(statement, 1))),
                facts: UnsafeRawBufferPointer(
                    start: sqlite3_column_blob(statement, 2), count: Int(sqlite3_column_bytes(statement, 2))))
        }
    }
}
