import CSQLite

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
