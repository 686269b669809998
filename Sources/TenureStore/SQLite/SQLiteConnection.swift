import CSQLite
import Foundation

/// A connection to an SQLite file. It keeps the statements that it has prepared, so that each is prepared once.
///
/// One caller at a time may use a connection.
package final class SQLiteConnection: @unchecked Sendable {
    // A lock in this class can't make it safe: rows are read through pointers while a statement runs, and a transaction
    // takes several calls. So the owner of a connection hands it to one caller at a time, and SQLite's own mutex is
    // off.
    let handle: OpaquePointer
    let path: String
    private var preparedStatements: [SQLText: OpaquePointer] = [:]
    /// The cached row IDs of headers. Only the writing connection of an `SQLiteDatabase` has this cache.
    package var headers: HeaderRowIDs?

    /// How the connection opens the database's file.
    package enum Access: Sendable {
        case reading
        /// Reads a file that no process has open, and that has no write-ahead log (`-wal`). In SQLite's `immutable`
        /// mode, the connection creates no index file (`-shm`), which processes would share.
        case readingImmutable
        case writing
        /// Creates a missing file.
        case creating

        fileprivate var flags: Int32 {
            switch self {
            case .reading: SQLITE_OPEN_READONLY
            case .readingImmutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            case .writing: SQLITE_OPEN_READWRITE
            case .creating: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        }
    }

    /// How long a statement waits for a lock of another connection, in milliseconds.
    private static let timeout: Int32 = 5000
    /// The timeout of `emptyLog`, in milliseconds: short, because writes wait meanwhile.
    private static let shortTimeout: Int32 = 100

    /// The maximum number of prepared statements: more than a service uses. Without a maximum, statements that are
    /// composed at run time, such as those that copy a database, could fill the memory.
    private static let maximumPrepared = 256

    package init(path: String, for access: Access) throws(StoreError) {
        var opened: OpaquePointer?
        let name = access == .readingImmutable ? "file:\(Self.escaped(path))?immutable=1" : path
        guard sqlite3_open_v2(name, &opened, access.flags | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK, let opened else {
            let detail = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw .unavailable(path: path, detail: detail)
        }
        sqlite3_busy_timeout(opened, Self.timeout)
        handle = opened
        self.path = path
        // Overwrite removed rows, because erased data must not stay in free pages. The default depends on how SQLite
        // was built.
        if access == .writing || access == .creating { try runAll("PRAGMA secure_delete = ON") }
    }

    deinit {
        finalizeStatements()
        sqlite3_close_v2(handle)
    }

    /// Escapes a path for a URI (https://www.sqlite.org/uri.html, section 3.1).
    private static func escaped(_ path: String) -> String {
        path.addingPercentEncoding(withAllowedCharacters: plain) ?? path
    }
    /// The characters that need no escape in a URI.
    private static let plain = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/.-_")

    // MARK: Statements

    /// Runs one statement and calls `row` for each row of the result. The pointer is valid until `row` returns.
    func run(
        _ sql: String, _ arguments: [SQLValue], _ row: (OpaquePointer) throws(StoreError) -> Void
    ) throws(StoreError) {
        let statement = try statement(sql)
        // Without a reset, the statement would keep its snapshot of the database and its bound values.
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        guard Int(sqlite3_bind_parameter_count(statement)) == arguments.count
        else { throw .defect("a statement got \(arguments.count) arguments, which isn't the number of its parameters") }
        for (index, argument) in arguments.enumerated() {
            try check(argument.bind(to: statement, at: Int32(index + 1)))
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: try row(statement)
            case SQLITE_DONE: return
            case let code: throw error(code)
            }
        }
    }

    /// Runs one or more statements without parameters.
    func runAll(_ sql: String) throws(StoreError) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// Returns the prepared statement for a text. Prepares it at its first use.
    private func statement(_ sql: String) throws(StoreError) -> OpaquePointer {
        let text = SQLText(text: sql)
        if let prepared = preparedStatements[text] { return prepared }
        if preparedStatements.count >= Self.maximumPrepared { finalizeStatements() }
        var new: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &new, nil))
        guard let new else { throw .defect("a statement is empty") }
        preparedStatements[text] = new
        return new
    }

    private func finalizeStatements() {
        for statement in preparedStatements.values { sqlite3_finalize(statement) }
        preparedStatements.removeAll()
    }

    // MARK: Transactions

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs a transaction, and rolls it back if `body` throws.
    ///
    /// - Parameter begin: the statement that begins the transaction. The default, for a transaction that writes, waits
    ///   until other writing transactions have ended. Pass `BEGIN` for a transaction that only reads.
    package func transaction<Value>(
        _ begin: String = "BEGIN IMMEDIATE", _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try execute(begin)
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // The rollback may remove rows, so their cached IDs are invalid.
            headers?.forget()
            // Some errors, such as a full disk, have ended the transaction already.
            if isInTransaction { _ = try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Writes the write-ahead log into the database's file, except for the part that a reader still needs.
    func checkpoint() { sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil) }

    /// Writes the write-ahead log into the database's file, and empties the log. Returns false if a reader or another
    /// writer still uses the log after `shortTimeout`.
    func emptyLog() -> Bool {
        sqlite3_busy_timeout(handle, Self.shortTimeout)
        defer { sqlite3_busy_timeout(handle, Self.timeout) }
        return sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK
    }

    // MARK: Errors

    private func check(_ code: Int32) throws(StoreError) { guard code == SQLITE_OK else { throw error(code) } }

    /// Returns the error for the result code of a call.
    func error(_ code: Int32) -> StoreError {
        // The connection has a message for its latest error only, which may have another code.
        let message = sqlite3_errcode(handle) == code ? sqlite3_errmsg(handle) : sqlite3_errstr(code)
        let detail = message.map { String(cString: $0) } ?? "code \(code)"
        // The lowest byte is the primary code. The other bytes add details (https://www.sqlite.org/rescode.html).
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy
        case SQLITE_FULL: return .full
        case SQLITE_READONLY:
            return .readOnly(database: path, detail: "\(detail); check who may write to the file and its folder")
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .damaged(detail)
        case SQLITE_CANTOPEN, SQLITE_PERM: return .unavailable(path: path, detail: detail)
        default: return .failed(detail)
        }
    }
}

extension SQLiteConnection: DatabaseSession {
    package var dialect: SQLDialect { .sqlite }

    package func rows(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> [SQLRow] {
        var rows: [SQLRow] = []
        try run(sql, arguments) { statement in
            rows.append(SQLRow((0..<sqlite3_column_count(statement)).map { SQLValue(statement, column: $0) }))
        }
        return rows
    }

    @discardableResult package func execute(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int {
        try run(sql, arguments) { _ in }
        return Int(sqlite3_changes(handle))
    }

    /// Inserts without `RETURNING`, because SQLite would create a temporary table for that clause.
    package func insert(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int64? {
        try execute(sql, arguments) > 0 ? sqlite3_last_insert_rowid(handle) : nil
    }
}

/// The text of a statement, as the key of a dictionary. Only its length is hashed, because hashing the text would take
/// as long as a short statement.
private struct SQLText: Hashable {
    let text: String

    func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }
}

/// Passes values to SQLite and reads them from its rows.
extension SQLValue {
    /// `SQLITE_TRANSIENT`, a macro that Swift doesn't import: SQLite copies the bound bytes.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// Binds the value to a parameter. Returns SQLite's code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .real(let number): return sqlite3_bind_double(statement, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { bytes in
                    // Without an address, SQLite would bind NULL instead of an empty string.
                    bytes.baseAddress.map {
                        sqlite3_bind_text64(statement, index, $0, UInt64(bytes.count), Self.copied, UInt8(SQLITE_UTF8))
                    } ?? sqlite3_bind_text(statement, index, "", 0, Self.copied)
                }
            }
        case .blob(let bytes):
            return bytes.withUnsafeBytes { bytes in
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob(statement, index, 0)
                    : sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), Self.copied)
            }
        }
    }

    /// Reads a column of a statement's current row.
    init(_ statement: OpaquePointer, column: Int32) {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: self = .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            let start = sqlite3_column_text(statement, column)
            let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
            self = .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(statement, column)
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
            self = .blob([UInt8](bytes))
        default: self = .null
        }
    }
}
