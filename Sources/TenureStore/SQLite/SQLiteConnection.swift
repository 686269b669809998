import GRDBSQLite

/// A connection of our own to a SQLite file, past GRDB. In the hands of one caller at a time.
final class SQLiteConnection {
    let handle: OpaquePointer

    enum Access {
        case reading
        /// A file that nobody has in hand and that has no log beside it: no file is made to share it with others.
        case readingUnchanged
        case writing

        fileprivate var flags: Int32 {
            // No mutex: it is in one pair of hands.
            switch self {
            case .reading: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
            case .readingUnchanged: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
            case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
            }
        }
    }

    /// How long it waits for others, in milliseconds.
    private static let patience: Int32 = 5000

    init(path: String, for access: Access) throws(StoreError) {
        var opened: OpaquePointer?
        let name = access == .readingUnchanged ? "file:\(Self.escaped(path))?immutable=1" : path
        guard sqlite3_open_v2(name, &opened, access.flags, nil) == SQLITE_OK, let opened else {
            let detail = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw StoreError.unavailable(path: path, detail: detail)
        }
        sqlite3_busy_timeout(opened, Self.patience)
        handle = opened
    }

    /// For a URI: https://www.sqlite.org/uri.html, section 3.1.
    private static func escaped(_ path: String) -> String {
        let hexadecimal = Array("0123456789ABCDEF")
        return path.utf8.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%\(hexadecimal[Int(byte >> 4)])\(hexadecimal[Int(byte & 15)])"
            }
        }
    }

    deinit {
        // Statements that are still there keep it until they are gone.
        sqlite3_close_v2(handle)
    }
}

extension StoreError {
    /// Why the last call on this connection failed.
    init(of connection: OpaquePointer) {
        self.init(code: sqlite3_errcode(connection), of: connection)
    }

    /// Why a call failed that returned this code.
    init(code: Int32, of connection: OpaquePointer) {
        let message = sqlite3_errcode(connection) == code ? sqlite3_errmsg(connection) : sqlite3_errstr(code)
        let detail = message.map { String(cString: $0) } ?? "code \(code)"
        // The lowest byte is the code that all releases of SQLite know.
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_FULL: self = .full
        case SQLITE_READONLY: self = .readOnly(database: "SQLite", detail: detail)
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(detail)
        default: self = .failed(detail)
        }
    }
}
