import Foundation
import GRDBSQLite

/// Copies what a connection reads into one new file: complete, flushed, readable only by its owner, read back, and with a
/// new number.
struct SQLiteCopy {
    let target: String

    /// What a copy contains.
    struct Contents: Sendable, Hashable {
        let id: [UInt8]
        let customers: Int
        let artifacts: Int
        /// Bytes of the file.
        let size: Int
    }

    enum Failure: Error {
        case exists
        case cannotWrite(detail: String)
        case store(StoreError)
    }

    /// Throws `exists` if there is a file and it isn't `replacing` it.
    ///
    /// - Parameter owner: who owns the copy; nil for the user of this process.
    func write(
        from source: OpaquePointer, replacing: Bool, owner: (user: UInt32, group: UInt32)? = nil
    ) throws(Failure) -> Contents {
        let aside = "\(target).\(UInt64.random(in: .min ... .max)).partial"
        defer {
            for name in [aside, aside + "-journal", aside + "-wal", aside + "-shm"] { unlink(name) }
        }
        // Before SQLite creates it, with a mode that lets others read what customers bought.
        let descriptor = open(aside, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.cannotWrite() }
        defer { close(descriptor) }
        let contents: Contents
        do throws(StoreError) {
            try copy(source, to: aside)
            contents = try read(aside)
        } catch .full {
            throw .cannotWrite(detail: "the disk is full")
        } catch {
            throw .store(error)
        }
        if let owner, owner.user != geteuid() || owner.group != getegid() {
            guard fchown(descriptor, owner.user, owner.group) == 0 else { throw Self.cannotWrite() }
        }
        // SQLite flushed it while it wrote. A crash could still take its name.
        guard fsync(descriptor) == 0 else { throw Self.cannotWrite() }
        if replacing {
            guard rename(aside, target) == 0 else { throw Self.cannotWrite() }
        } else {
            guard link(aside, target) == 0 else { throw errno == EEXIST ? .exists : Self.cannotWrite() }
        }
        Self.flushFolder(of: target)
        return contents
    }

    private func copy(_ source: OpaquePointer, to path: String) throws(StoreError) {
        let connection = try SQLiteConnection(path: path, for: .writing)
        defer { withExtendedLifetime(connection) {} }
        guard let backup = sqlite3_backup_init(connection.handle, "main", source, "main") else {
            throw StoreError(of: connection.handle)
        }
        // One step, which reads one state.
        var code = sqlite3_backup_step(backup, -1)
        for _ in 0..<50 where code == SQLITE_BUSY || code == SQLITE_LOCKED {
            usleep(100_000)
            code = sqlite3_backup_step(backup, -1)
        }
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw StoreError(code: code, of: connection.handle) }
        let statements = SQLiteStatements(on: connection.handle)
        // One file, without a log beside it.
        try statements.run("PRAGMA journal_mode = DELETE", [])
        try statements.run("PRAGMA user_version = \(SQLiteNumber.new())", [])
    }

    private func read(_ path: String) throws(StoreError) -> Contents {
        let connection = try SQLiteConnection(path: path, for: .readingUnchanged)
        defer { withExtendedLifetime(connection) {} }
        let statements = SQLiteStatements(on: connection.handle)
        func first(_ sql: String) throws(StoreError) -> SQLValue? {
            var value: SQLValue?
            try statements.run(sql, []) { value = SQLValue($0, column: 0) }
            return value
        }
        guard case .text("ok")? = try first("PRAGMA integrity_check(1)") else {
            throw .damaged("SQLite's integrity check fails")
        }
        guard case .blob(let id)? = try first("SELECT id FROM database"), id.count == 16 else {
            throw .damaged("it doesn't contain the ID of a database")
        }
        func count(_ table: String) throws(StoreError) -> Int {
            if case .integer(let count)? = try first("SELECT count(*) FROM \(table)") { Int(count) } else { 0 }
        }
        return Contents(
            id: id, customers: try count("customers"), artifacts: try count("artifacts"),
            size: FileState(path: path).map { Int($0.size) } ?? 0)
    }

    private static func cannotWrite() -> Failure {
        .cannotWrite(detail: String(cString: strerror(errno)).lowercased())
    }

    /// Makes a change of a folder survive a crash.
    static func flushFolder(of path: String) {
        let folder = (path as NSString).deletingLastPathComponent
        let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// `path`, or the first of `path-2`, `path-3` … that doesn't exist.
    static func freeName(_ path: String) -> String {
        var (name, number) = (path, 1)
        while FileIdentity.exists(name) {
            number += 1
            name = "\(path)-\(number)"
        }
        return name
    }
}
