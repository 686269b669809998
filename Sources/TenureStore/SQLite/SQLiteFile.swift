import Foundation
import TenureFileAttributes

/// Checks the file at the path of a database before the database is opened. Otherwise, the service might create its
/// tables in another program's database, or change the mode of a folder.
enum SQLiteFile {
    /// Whether a Tenure database is at the path. False if there is no file, or if the file has no tables yet. Throws if
    /// the file is anything else.
    ///
    /// Also true if the file can't be read now: another process may use the database, or was killed while it used the
    /// database. `SQLiteConnection.open` checks the file again.
    ///
    /// - Parameters:
    ///   - leavingNoTrace: whether to create no file beside the database. To read a write-ahead log (`-wal`) without an
    ///     index (`-shm`), SQLite would create the index. So such a file isn't read, and the result is true.
    ///   - migrations: the steps of the schema that this release knows.
    static func holdsDatabase(
        at path: String, leavingNoTrace: Bool = false, knowing migrations: [Migration] = Migration.all
    ) throws(StoreError) -> Bool {
        // SQLite keeps the log beside the file itself, and not beside a link to it.
        let path = resolved(path)
        guard try size(of: path) > 0 else { return false }
        let hasLog = access(path + SQLiteOpenFiles.logSuffix, F_OK) == 0
        // If there is a log, this process may have the file open. To open and close it here would drop SQLite's locks
        // (https://www.sqlite.org/howtocorrupt.html, section 2.2), so SQLite alone reads it.
        if !hasLog, try !beginsAsDatabase(path) {
            throw .unusable(database: path, detail: "it isn't an SQLite database; use the path of your database")
        }
        if hasLog, leavingNoTrace, access(path + SQLiteOpenFiles.indexSuffix, F_OK) != 0 { return true }
        let connection = try SQLiteConnection(path: path, for: hasLog ? .reading : .readingImmutable)
        do throws(StoreError) {
            let tables = try connection.tables()
            guard !tables.isEmpty else { return false }
            guard tables.isSuperset(of: [SQLiteConnection.migrationsTable, DatabaseTable.databaseID]) else {
                throw .unusable(
                    database: path, detail: "it is another program's database; use the path of your database")
            }
            _ = try connection.pendingMigrations(of: migrations)
            return true
        } catch {
            switch error {
            case .damaged(let detail): throw .damaged("`\(path)`: \(detail)")
            case .unusable, .newerDatabase: throw error
            // Opening the file for writing will say why it can't be read.
            default: return true
            }
        }
    }

    /// Returns the header of the database at the path; nil if it can't be read.
    static func header(at path: String) -> DatabaseHeader? { try? reader(at: path).headerIfAny() }

    /// Opens the database at the path for reading.
    static func reader(at path: String) throws(StoreError) -> SQLiteConnection {
        let path = resolved(path)
        let hasLog = FileIdentity.exists(path + SQLiteOpenFiles.logSuffix)
        return try SQLiteConnection(path: path, for: hasLog ? .reading : .readingImmutable)
    }

    /// Resolves links. A path that doesn't exist yet is returned unchanged.
    static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether both paths lead to one file.
    static func areSame(_ one: String, _ other: String) -> Bool {
        FileIdentity(path: one).map { $0 == FileIdentity(path: other) } ?? false
    }

    /// Writes the write-ahead log (`-wal`) into the database, and removes the log. Throws `busy` if another process has
    /// the database open.
    static func mergeLog(_ path: String) throws(StoreError) {
        // While this process holds the lock, no service opens the database. If a service opened the database before the
        // log is removed, it would give the database no new number (`SQLiteCopyNumber`).
        let lock = try SQLiteOpeningLock(database: resolved(path))
        defer { withExtendedLifetime(lock) {} }
        let mode = try SQLiteConnection(path: path, for: .writing).row("PRAGMA journal_mode = DELETE")?.text(0)
        guard mode == "delete" else { throw .busy }
    }

    /// The size of the file; 0 if it doesn't exist.
    private static func size(of path: String) throws(StoreError) -> Int64 {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno != ENOENT else { return 0 }
            throw .unavailable(path: path, detail: systemMessage)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return Int64(status.st_size)
        case S_IFDIR: throw .unusable(database: path, detail: "it is a folder; use the path of a file in it")
        default: throw .unusable(database: path, detail: "it isn't a file; check the path")
        }
    }

    /// Whether the file begins with SQLite's magic string (https://www.sqlite.org/fileformat2.html, section 1.3).
    private static func beginsAsDatabase(_ path: String) throws(StoreError) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unavailable(path: path, detail: systemMessage) }
        defer { close(descriptor) }
        let magic = Array("SQLite format 3\0".utf8)
        var bytes = [UInt8](repeating: 0, count: magic.count)
        return read(descriptor, &bytes, bytes.count) == magic.count && bytes == magic
    }

    /// Returns an error if the file has several names (hard links); otherwise nil. SQLite would keep a log beside each
    /// name (https://www.sqlite.org/howtocorrupt.html, section 2.5).
    static func objectionToNames(of path: String) -> StoreError? {
        var status = stat()
        guard stat(resolved(path), &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink > 1
        else { return nil }
        return .unusable(
            database: path,
            detail: """
                the file has \(status.st_nlink) names (hard links), and programs that open it by different names destroy it; \
                remove the other names (`find / -xdev -samefile \(path)` lists them), or copy it with `tenure database backup`
                """)
    }
}

extension SQLiteDatabase {
    /// Returns why this file can't be used as a database; nil if no reason is found. Changes nothing, so problems that
    /// only a write shows aren't found.
    package static func objection(to path: String) -> StoreError? {
        do {
            _ = try SQLiteFile.holdsDatabase(at: path, leavingNoTrace: true)
            return NetworkFileSystem.objection(to: path) ?? SQLiteFile.objectionToNames(of: path)
        } catch {
            return error
        }
    }

    /// Whether both paths lead to one file, however they are written.
    package static func areSame(_ one: String, _ other: String) -> Bool { SQLiteFile.areSame(one, other) }

    /// Whether a database is at the path. False if there is no file, or if the file has no tables. True for anything
    /// else at the path, which may be a database that can't be read now.
    package static func exists(at path: String) -> Bool {
        (try? SQLiteFile.holdsDatabase(at: path, leavingNoTrace: true)) ?? true
    }

    /// The path of the newest copy that `SQLiteRescue` made when the file of an open database was replaced; nil if no
    /// such copy is beside the path.
    package static func savedCopy(of path: String) -> String? {
        let path = SQLiteFile.resolved(path) + SQLiteRescue.suffix
        guard FileIdentity.exists(path) else { return nil }
        var (name, number) = (path, 2)
        while FileIdentity.exists("\(path)-\(number)") {
            name = "\(path)-\(number)"
            number += 1
        }
        return name
    }
}

/// The system's message for the last failed call, by `errno`, in lower case: `no space left on device`.
var systemMessage: String { String(cString: strerror(errno)).lowercased() }
