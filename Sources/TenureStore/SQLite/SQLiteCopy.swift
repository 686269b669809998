import CSQLite
import Foundation
import TenureFileAttributes
import TenureFiles

/// Copies the whole database that a connection reads into one new file.
///
/// The copy is flushed and checked by reading it. Only its owner can read it. The copy gets a new `SQLiteCopyNumber`,
/// by which a service notices that its open database was overwritten with a copy.
package struct SQLiteCopy {
    /// The path of the copy.
    let target: String

    /// What a copy contains.
    package struct Contents: Sendable, Hashable {
        /// The number of customers, including merged ones.
        package let customers: Int
        package let artifacts: Int
        /// The size of the file in bytes.
        package let size: Int
    }

    /// Writes the copy. Throws `exists` if the target exists and `replacing` is false.
    ///
    /// - Parameter owner: who owns the copy; nil for the user of this process.
    func write(
        from source: SQLiteConnection, replacing: Bool, owner: (user: UInt32, group: UInt32)? = nil
    ) throws(SQLiteFileError) -> Contents {
        let partial = "\(target).\(UInt64.random(in: .min ... .max)).partial"
        defer {
            for suffix in ["", "-journal", SQLiteOpenFiles.logSuffix, SQLiteOpenFiles.indexSuffix] {
                unlink(partial + suffix)
            }
        }
        // SQLite would create the file with a mode that lets other users read what customers bought.
        let descriptor = open(partial, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotWrite() }
        defer { close(descriptor) }
        let contents: Contents
        do throws(StoreError) {
            try copy(source, to: partial)
            contents = try checkedContents(of: partial)
        } catch .full {
            throw .cannotWrite(path: target, detail: "the disk is full")
        } catch {
            throw .store(error)
        }
        if let owner, owner.user != geteuid() || owner.group != getegid() {
            guard fchown(descriptor, owner.user, owner.group) == 0 else { throw cannotWrite() }
        }
        // SQLite flushed the contents. The file's mode, owner and name still need a flush.
        guard fsync(descriptor) == 0 else { throw cannotWrite() }
        if replacing {
            guard rename(partial, target) == 0 else { throw cannotWrite() }
        } else {
            // Unlike `rename`, `link` fails if the target exists.
            guard link(partial, target) == 0 else { throw errno == EEXIST ? .exists(path: target) : cannotWrite() }
        }
        guard Self.flushFolder(of: target) else { throw .notFlushed(path: target, detail: systemMessage) }
        return contents
    }

    /// Copies all pages with SQLite's backup API. Waits some seconds if the database is locked.
    private func copy(_ source: SQLiteConnection, to path: String) throws(StoreError) {
        let connection = try SQLiteConnection(path: path, for: .writing)
        guard let backup = sqlite3_backup_init(connection.handle, "main", source.handle, "main")
        else { throw connection.error(sqlite3_errcode(connection.handle)) }
        // One step copies everything from the same snapshot.
        var code = sqlite3_backup_step(backup, -1)
        for _ in 0..<50 {
            guard code == SQLITE_BUSY || code == SQLITE_LOCKED else { break }
            usleep(100_000)
            code = sqlite3_backup_step(backup, -1)
        }
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw connection.error(code) }
        // Leave one file, without a log beside it.
        try connection.execute("PRAGMA journal_mode = DELETE")
        try connection.execute("PRAGMA user_version = \(SQLiteCopyNumber.new())")
    }

    /// Checks the copy at a path, and counts what it contains. Throws `damaged` if the check fails.
    private func checkedContents(of path: String) throws(StoreError) -> Contents {
        let connection = try SQLiteConnection(path: path, for: .readingImmutable)
        guard try connection.row("PRAGMA integrity_check(1)")?.text(0) == "ok"
        else { throw .damaged("SQLite's integrity check fails") }
        guard try connection.row("SELECT id FROM database")?.bytes(0).count == 16
        else { throw .damaged("it doesn't contain the ID of a database") }
        return Contents(
            customers: try connection.count("SELECT count(*) FROM customers"),
            artifacts: try connection.count("SELECT count(*) FROM artifacts"),
            size: FileState(path: path).map { Int($0.size) } ?? 0)
    }

    private func cannotWrite() -> SQLiteFileError { .cannotWrite(path: target, detail: systemMessage) }

    /// Flushes the folder of a file, so that a new, renamed or removed name survives a crash. Returns false, and leaves
    /// the reason in `errno`, if that fails.
    static func flushFolder(of path: String) -> Bool {
        let folder = (path as NSString).deletingLastPathComponent
        return WholeFile.flushFolder(folder.isEmpty ? "." : folder)
    }

    /// Returns a path at which no file exists: `path` itself, or else the first of `path-2`, `path-3` and so on.
    static func freeName(_ path: String) -> String {
        var (name, number) = (path, 1)
        while FileIdentity.exists(name) {
            number += 1
            name = "\(path)-\(number)"
        }
        return name
    }
}
