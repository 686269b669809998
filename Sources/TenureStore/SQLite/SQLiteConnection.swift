import GRDBSQLite

/// A connection of our own to a SQLite file, past GRDB. In the hands of one caller at a time.
final class SQLiteConnection {
    let handle: OpaquePointer

    enum Access {
        case reading
        case writing

        fileprivate var flags: Int32 {
            // No mutex: it is in one pair of hands.
            switch self {
            case .reading: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
            case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
            }
        }
    }

    /// How long it waits for others, in milliseconds.
    private static let patience: Int32 = 5000

    init(path: String, for access: Access) throws(StoreError) {
        var opened: OpaquePointer?
        guard sqlite3_open_v2(path, &opened, access.flags, nil) == SQLITE_OK, let opened else {
            let detail = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw StoreError.unavailable(path: path, detail: detail)
        }
        sqlite3_busy_timeout(opened, Self.patience)
        handle = opened
    }

    deinit {
        // Statements that are still there keep it until they are gone.
        sqlite3_close_v2(handle)
    }
}

extension StoreError {
    /// Why the last call on this connection failed.
    init(of connection: OpaquePointer) {
        let detail = String(cString: sqlite3_errmsg(connection))
        // The lowest byte is the code that all releases of SQLite know.
        switch sqlite3_errcode(connection) & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_FULL: self = .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(detail)
        default: self = .failed(detail)
        }
    }
}
