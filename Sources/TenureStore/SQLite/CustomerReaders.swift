import Foundation
import GRDBSQLite

/// Connections that look up one customer by number, and nothing else.
///
/// Every request looks up a customer, and this takes a quarter of the time of a general-purpose read. In WAL mode,
/// readers don't wait for writers.
struct CustomerReaders: Sendable {
    private let connections: IdleConnections<CustomerReader>

    init(path: String) {
        connections = IdleConnections { () throws(StoreError) in try CustomerReader(path: path) }
    }

    func customer(_ id: Int64) throws(StoreError) -> Customer? {
        try connections.use { reader throws(StoreError) in
            var id = id
            // As in `DatabaseTransaction.customer`, follows the chain of merges.
            for _ in 0...DatabaseTransaction.mostMembers {
                switch try reader.customer(id) {
                case .notFound: return Customer?.none
                case .customer(let customer): return customer
                // A customer that is merged into itself was erased.
                case .another(id): return nil
                case .another(let next): id = next
                }
            }
            throw .damaged("customer \(id) was merged in a circle")
        }
    }

    func close(_ error: StoreError = .failed("the database is closed")) { connections.close(error) }
}

/// One connection with one prepared statement.
private final class CustomerReader {
    enum Answer {
        case notFound
        case customer(Customer)
        case another(Int64)
    }

    private let connection: SQLiteConnection
    private let statement: OpaquePointer

    init(path: String) throws(StoreError) {
        let connection = try SQLiteConnection(path: path, for: .reading)
        // Kilobytes: without the inner pages of a table of millions each look-up would read them again.
        guard sqlite3_exec(connection.handle, "PRAGMA cache_size = -16384", nil, nil, nil) == SQLITE_OK else {
            throw StoreError(of: connection.handle)
        }
        // No memory mapping: where the file is cut off under it, that ends the process.
        var statement: OpaquePointer?
        let sql = "SELECT realm, public_id, created_at, facts, merged_into FROM customers WHERE id = ?"
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

    func customer(_ id: Int64) throws(StoreError) -> Answer {
        // Ends the read transaction, so that it holds no old snapshot.
        defer { sqlite3_reset(statement) }
        sqlite3_bind_int64(statement, 1, id)
        switch sqlite3_step(statement) {
        case SQLITE_ROW: break
        case SQLITE_DONE: return .notFound
        default: throw StoreError(of: connection.handle)
        }
        if sqlite3_column_type(statement, 4) != SQLITE_NULL { return .another(sqlite3_column_int64(statement, 4)) }
        guard let code = UInt8(exactly: sqlite3_column_int64(statement, 0)), let realm = Realm(code: code) else {
            throw StoreError.damaged("a customer belongs to no known realm")
        }
        // Pointers into the row: valid until the statement is reset, and read before that.
        let text = UnsafeBufferPointer(
            start: sqlite3_column_text(statement, 1), count: Int(sqlite3_column_bytes(statement, 1)))
        let blob = UnsafeRawBufferPointer(
            start: sqlite3_column_blob(statement, 3), count: Int(sqlite3_column_bytes(statement, 3)))
        return .customer(
            Customer(
                id: id, realm: realm, publicID: String(decoding: text, as: UTF8.self),
                createdAt: Date(millisecondsSince1970: sqlite3_column_int64(statement, 2)),
                facts: try CustomerFacts(decoding: blob)))
    }
}
