import Foundation
import TenureFileAttributes

/// Checks the file at the path of a database before anything is changed. Otherwise, the service might create its tables
/// in another program's database, or change the mode of a folder.
enum SQLiteFile {
    /// Whether a Tenure database is at the path. False if there is no file, or if the file has no tables yet. Throws if
    /// the file is anything else.
    ///
    /// Also true if the file can't be read now: another process may use the database, or was killed while it used the
    /// database. `SQLiteConnection.open` checks the file again.
    ///
    /// - Parameters:
    ///   - leavingNoTrace: whether to create no file beside the database. Reading a write-ahead log (`-wal`) without an
    ///     index (`-shm`) would create one.
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
        // log is removed, it would assign no new copy number.
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
    /// The reason why this file can't be used as a database, as far as that is known without changing anything;
    /// otherwise nil.
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

    /// Whether a database is at the path, even if it isn't Tenure's. A file without tables isn't a database yet.
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

/// File systems on which SQLite's locks and shared memory don't work (https://www.sqlite.org/wal.html, section 1).
enum NetworkFileSystem {
    /// Returns an error if the path is on such a file system; otherwise nil.
    static func objection(to path: String) -> StoreError? { type(at: path).flatMap { objection(to: path, ofType: $0) } }

    /// Returns an error if SQLite doesn't work on a file system of this type; otherwise nil.
    static func objection(to path: String, ofType type: String) -> StoreError? {
        guard refusedTypes.contains(type) else { return nil }
        return .unusable(
            database: path,
            detail: """
                it is on a network file system (\(type)), on which SQLite loses data; move it to a local disk, or use \
                PostgreSQL
                """)
    }

    /// The types of NFS and SMB, as Linux and macOS name them.
    private static let refusedTypes: Set<String> = ["nfs", "nfs4", "cifs", "smb3", "smb2", "smbfs"]

    #if os(Linux)
        /// The type of the file system at a path, or of its folder if nothing is there yet.
        private static func type(at path: String) -> String? {
            // The table of the mounts that this process sees. The C library's `statfs` isn't available in Swift on
            // Linux.
            guard let status = status(at: path),
                let table = FileManager.default.contents(atPath: "/proc/self/mountinfo")
            else { return nil }
            return type(ofDevice: UInt64(status.st_dev), in: String(decoding: table, as: UTF8.self))
        }

        /// The status of the file at a path, or of its folder if there is no such file.
        private static func status(at path: String) -> stat? {
            var status = stat()
            if stat(path, &status) == 0 { return status }
            let folder = (path as NSString).deletingLastPathComponent
            return stat(folder.isEmpty ? "." : folder, &status) == 0 ? status : nil
        }

        /// Finds the line of a device, such as `36 35 98:0 /a /b rw,noatime master:1 - ext3 /dev/root rw`, and returns
        /// the type after the dash. `man 5 proc` describes the table.
        static func type(ofDevice device: UInt64, in table: String) -> String? {
            // The numbers that C's macros `major` and `minor` return. Swift doesn't import them.
            let major = ((device >> 8) & 0xFFF) | ((device >> 32) & 0xFFFF_F000)
            let minor = (device & 0xFF) | ((device >> 12) & 0xFFFF_FF00)
            for line in table.split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count > 2, fields[2] == "\(major):\(minor)", let dash = fields.firstIndex(of: "-"),
                    fields.indices.contains(dash + 1)
                else { continue }
                return String(fields[dash + 1])
            }
            return nil
        }
    #else
        private static func type(at path: String) -> String? {
            var status = statfs()
            let folder = (path as NSString).deletingLastPathComponent
            guard statfs(path, &status) == 0 || statfs(folder.isEmpty ? "." : folder, &status) == 0 else { return nil }
            return withUnsafeBytes(of: &status.f_fstypename) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        }
    #endif
}
