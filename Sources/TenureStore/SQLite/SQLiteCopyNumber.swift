import Foundation
import TenureFileAttributes

/// The number in a database's header (`user_version`) that tells copies of one database apart.
///
/// Each copy that Tenure makes gets a new number, and so does a closed database when it is opened. If `cp` overwrites
/// an open database, the file is still the same, but it has another number.
enum SQLiteCopyNumber {
    /// Returns a random number for a copy. It isn't 0, which new databases have.
    static func new() -> Int32 { Int32.random(in: 1...Int32.max) }

    /// Returns the number of a connection's database; 0 if it was never given one.
    static func read(_ connection: SQLiteConnection) throws(StoreError) -> Int32 {
        guard let number = Int32(exactly: try connection.row("PRAGMA user_version")?.integer(0) ?? .max)
        else { throw .damaged("its header has no `user_version`") }
        return number
    }

    /// Gives an open database a new number, unless another process has given it one since `known` was read.
    ///
    /// - Parameter known: the number in the file before it was opened; nil if other processes may have the database
    ///   open. If nil, only a database without a number gets one: another number would make the other processes report
    ///   a replaced file.
    static func renew(_ connection: SQLiteConnection, known: Int32?) throws(StoreError) {
        guard try read(connection) == known ?? 0 else { return }
        try connection.transaction { () throws(StoreError) in
            if try read(connection) == known ?? 0 { try connection.execute("PRAGMA user_version = \(new())") }
        }
        // Writes the number from the write-ahead log into the file. If a reader is in the way, a later checkpoint
        // writes it.
        connection.checkpoint()
    }

    /// Opens an existing database for writing and gives it a new number, as the service does. So a service that opens
    /// the database meanwhile, or after this process was killed, finds a number that no other copy has.
    ///
    /// - Parameters:
    ///   - path: the path of the database, without symbolic links.
    ///   - prepare: runs before the database is changed.
    static func opened(
        _ path: String, _ prepare: (SQLiteConnection) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) -> SQLiteConnection {
        let lock = try SQLiteOpeningLock(database: path)
        defer { withExtendedLifetime(lock) {} }
        let known = ofClosedFile(at: path)
        let connection = try SQLiteConnection(path: path, for: .writing)
        try prepare(connection)
        // On a read-only disk, `renew` fails, but the database can still be read.
        _ = try? renew(connection, known: known)
        return connection
    }

    /// The number in the file of a database that isn't open. Nil if a process may have the database open, or if there
    /// is no file.
    ///
    /// While a database is open, its write-ahead log (`-wal`) is beside it. The log stays if the process was killed.
    static func ofClosedFile(at path: String) -> Int32? {
        let path = SQLiteFile.resolved(path)
        guard !FileIdentity.exists(path + SQLiteOpenFiles.logSuffix) else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4)
        // The header has `user_version` at byte 60, most significant byte first.
        guard pread(descriptor, &bytes, 4, 60) == 4 else { return nil }
        return Int32(bitPattern: bytes.reduce(0) { $0 << 8 | UInt32($1) })
    }
}
