import GRDBSQLite

/// The prepared statements of one connection, used by one caller at a time.
final class SQLiteStatements {
    let connection: OpaquePointer
    private var prepared: [SQLText: OpaquePointer] = [:]

    /// The maximum number, many more than the store has. The limit is for generated statements, such as those of a
    /// copy.
    private static let most = 256

    /// `connection` must be open as long as this is used.
    init(on connection: OpaquePointer) {
        self.connection = connection
    }

    deinit {
        forget()
    }

    private func forget() {
        for statement in prepared.values { sqlite3_finalize(statement) }
        prepared.removeAll()
    }

    /// Runs one statement and calls `row` for each row of the result.
    func run(
        _ sql: String, _ arguments: [SQLValue], _ row: (OpaquePointer) -> Void = { _ in }
    ) throws(StoreError) {
        let statement = try statement(sql)
        // Otherwise it would keep its snapshot and its bound values.
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        guard Int(sqlite3_bind_parameter_count(statement)) == arguments.count else {
            throw .failed("a statement got \(arguments.count) arguments instead of the number that it needs")
        }
        var index: Int32 = 0
        for argument in arguments {
            index += 1
            guard argument.bind(to: statement, at: index) == SQLITE_OK else { throw StoreError(of: connection) }
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: row(statement)
            case SQLITE_DONE: return
            default: throw StoreError(of: connection)
            }
        }
    }

    private func statement(_ sql: String) throws(StoreError) -> OpaquePointer {
        let text = SQLText(text: sql)
        if let known = prepared[text] { return known }
        if prepared.count >= Self.most { forget() }
        var new: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &new, nil)
        guard code == SQLITE_OK else { throw StoreError(of: connection) }
        guard let new else { throw .failed("a statement is empty") }
        prepared[text] = new
        return new
    }
}

/// A statement's text. Only its length is hashed, because hashing the text would take as long as a short statement.
private struct SQLText: Hashable {
    let text: String

    func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }
}

extension SQLValue {
    /// SQLite copies what it gets.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .real(let number): return sqlite3_bind_double(statement, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { bytes in
                    // Without an address, SQLite would bind NULL instead of an empty text.
                    bytes.baseAddress.map {
                        sqlite3_bind_text64(
                            statement, index, $0, UInt64(bytes.count), Self.copied, UInt8(SQLITE_UTF8))
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

    /// Reads a column of the statement's current row.
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
