import CSQLite
import Foundation
import TenureCore

/// The connections to an SQLite database that read. With a write-ahead log, they wait for no writer.
///
/// A connection is opened as needed and kept for the next caller: opening a connection reads the whole schema, which
/// takes as long as reading hundreds of rows.
final class SQLiteReaders: Sendable {
    private struct State {
        var idle: [SQLiteConnection] = []
        /// The error that all callers get after `close`; nil before.
        var closingError: StoreError?
    }

    private let path: String
    private let state = Locked(State())
    /// Runs transactions on separate threads: they may take minutes, and the threads of Swift tasks must not wait.
    private let queue = OperationQueue()

    /// The maximum number of transactions that read at the same time.
    private static let maximumTransactions = 2

    init(path: String) {
        self.path = path
        queue.maxConcurrentOperationCount = Self.maximumTransactions
    }

    /// Runs a transaction that reads one state of the database.
    func read<Value: Sendable>(_ body: @escaping SessionBody<Value>) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
            queue.addOperation {
                let result = Result { () throws(StoreError) in
                    try self.use { connection throws(StoreError) in
                        try connection.transaction("BEGIN") { () throws(StoreError) in try body(connection) }
                    }
                }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }

    /// Calls `body` with a connection that no other caller uses. The caller's thread runs `body`, so there are at most
    /// as many connections as threads.
    private func use<Value>(_ body: (SQLiteConnection) throws(StoreError) -> Value) throws(StoreError) -> Value {
        let (idle, closingError) = state.withLock { ($0.idle.popLast(), $0.closingError) }
        if let closingError { throw closingError }
        let connection = if let idle { idle } else { try open() }
        defer { state.withLock { if $0.closingError == nil { $0.idle.append(connection) } } }
        return try body(connection)
    }

    private func open() throws(StoreError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, for: .reading)
        // The cache's size in kilobytes (negative numbers mean kilobytes): enough for the inner pages of a table with
        // millions of rows. The file isn't mapped into memory, because truncating a mapped file would end the process.
        try connection.execute("PRAGMA cache_size = -16384")
        return connection
    }

    /// Closes the connections. Later callers get this error. A connection in use is closed after its use.
    func close(_ error: StoreError = .failed("the database is closed")) {
        let idle = state.withLock { state in
            defer { state = State(closingError: state.closingError ?? error) }
            return state.idle
        }
        // The idle connections are closed here, after the lock was released.
        withExtendedLifetime(idle) {}
    }

    // MARK: Customers

    // Look-ups that read columns through SQLite's pointers: creating an `SQLRow` would cost several times as much. They
    // run on the caller's thread without a transaction, because a single statement reads one snapshot.

    /// Returns the customer with this row ID, or the one into which it was merged; nil if there is no such customer.
    func customer(_ id: Int64) throws(StoreError) -> Customer? {
        try use { connection throws(StoreError) in
            var id = id
            // Follow the merges, as `DatabaseTransaction.customer` does. The limit matters only in a damaged database,
            // in which customers were merged in a circle.
            for _ in 0...DatabaseTransaction.maximumMembers {
                switch try Self.find(id, connection) {
                case .notFound: return Customer?.none
                case .customer(let customer): return customer
                case .another(id): return nil  // Merged into itself: the customer is being erased.
                case .another(let next): id = next
                case .awaitsPublication:
                    return try connection.transaction("BEGIN") { () throws(StoreError) in
                        try DatabaseTransaction(connection).customer(id)
                    }
                }
            }
            throw .damaged("customer \(id) was merged in a circle")
        }
    }

    private static let lookUpStatement = """
        SELECT realm, public_id, created_at, facts, merged_into, \(DatabaseTransaction.unfinishedPublicationColumn)
        FROM customers WHERE id = ?
        """

    /// Reads one row of `customers`.
    private static func find(_ id: Int64, _ connection: SQLiteConnection) throws(StoreError) -> LookedUpCustomer {
        var result = LookedUpCustomer.notFound
        try connection.run(lookUpStatement, [.integer(id)]) { row throws(StoreError) in
            guard sqlite3_column_type(row, 5) == SQLITE_NULL else {
                result = .awaitsPublication
                return
            }
            guard sqlite3_column_type(row, 4) == SQLITE_NULL else {
                result = .another(sqlite3_column_int64(row, 4))
                return
            }
            guard let code = UInt8(exactly: sqlite3_column_int64(row, 0)), let realm = Realm(code: code)
            else { throw .damaged("customer \(id) has an unknown number in the column `realm`") }
            result = .customer(
                Customer(
                    id: id, realm: realm, publicID: String(decoding: text(row, 1), as: UTF8.self),
                    createdAt: Date(millisecondsSince1970: sqlite3_column_int64(row, 2)),
                    facts: try CustomerFacts(decoding: blob(row, 3))))
        }
        return result
    }

    /// Calls `body` for the customers with row IDs above `id`, up to `last`; see `Database.forEachCustomer`.
    func forEachCustomer(after id: Int64, through last: Int64, _ body: EncodedCustomerBody) throws(StoreError) {
        try use { connection throws(StoreError) in
            try connection.run(DatabaseTransaction.customersInRange, [.integer(id), .integer(last)]) {
                row throws(StoreError) in
                try body(UInt8(clamping: sqlite3_column_int64(row, 0)), Self.text(row, 1), Self.blob(row, 2))
            }
        }
    }

    private static func text(_ row: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: sqlite3_column_text(row, column), count: Int(sqlite3_column_bytes(row, column)))
    }

    private static func blob(_ row: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: sqlite3_column_blob(row, column), count: Int(sqlite3_column_bytes(row, column)))
    }
}
