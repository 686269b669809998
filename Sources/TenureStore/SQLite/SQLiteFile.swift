import Foundation

/// What lies where a record should: found out before anything is done to it. SQLite would make a record's tables in
/// whatever database it is given, and closing a file to others would close a folder too.
enum SQLiteFile {
    enum Contents: Sendable, Hashable {
        case nothing
        /// A database without tables, such as a file that was just made.
        case noTables
        case record
        /// Another process may have it in hand, or had it when it was killed; whoever opens it looks again.
        case unknown
    }

    /// Throws where something else lies there than a record, or than nothing yet.
    ///
    /// `leavingNoTrace`: makes no file beside it, where a log that nobody reads any more would need one.
    static func contents(
        at path: String, leavingNoTrace: Bool = false, knowing migrations: [Migration] = Migration.all
    ) throws(StoreError) -> Contents {
        // SQLite keeps the log beside the file itself, and not beside a link to it.
        let path = resolved(path)
        guard try size(of: path) > 0 else { return .nothing }
        guard try beginsAsDatabase(path) else {
            throw .unusable(database: path, detail: "it is no database of SQLite; name the file of your record")
        }
        let hasLog = access(path + "-wal", F_OK) == 0
        if hasLog, leavingNoTrace, access(path + "-shm", F_OK) != 0 { return .unknown }
        let connection = try SQLiteConnection(path: path, for: hasLog ? .reading : .readingUnchanged)
        // Statements do not keep their connection.
        defer { withExtendedLifetime(connection) {} }
        let statements = SQLiteStatements(on: connection.handle)
        var tables: Set<String> = []
        var steps: Set<String> = []
        do {
            tables = try statements.texts("SELECT name FROM sqlite_master WHERE type = 'table'")
            if tables.contains(stepTable) { steps = try statements.texts("SELECT identifier FROM \(stepTable)") }
        } catch .damaged(let detail) {
            throw .damaged("`\(path)`: \(detail)")
        } catch {
            // Whoever opens it in order to write says why it cannot be.
            return .unknown
        }
        guard !steps.isEmpty || !tables.subtracting([stepTable]).isEmpty else { return .noTables }
        guard steps.contains(Migration.initial.name) || tables.contains(DatabaseTable.identity) else {
            throw .unusable(
                database: path, detail: "it is the database of something else; name the file of your record")
        }
        if !steps.isSubset(of: migrations.map(\.name)) {
            // A newer release may let this one go on.
            let version = migrations.last?.version ?? 0
            guard let header = try? statements.header(), header.version > version, header.oldestReader <= version
            else { throw .newerDatabase(path: path) }
        }
        return .record
    }

    /// What the database at the path says about itself; nil if it can't be read.
    static func header(at path: String) -> DatabaseHeader? {
        let path = resolved(path)
        let hasLog = access(path + "-wal", F_OK) == 0
        guard let connection = try? SQLiteConnection(path: path, for: hasLog ? .reading : .readingUnchanged) else {
            return nil
        }
        defer { withExtendedLifetime(connection) {} }
        return try? SQLiteStatements(on: connection.handle).header()
    }

    /// Where links lead; what does not exist yet stays as it is named.
    static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether both paths lead to one file.
    static func areSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Writes what stands in the log beside a database into the database, and removes the log. Only where nobody else has
    /// it open; false where that is not so.
    static func takesInLog(_ path: String) -> Bool {
        guard let connection = try? SQLiteConnection(path: path, for: .writing) else { return false }
        defer { withExtendedLifetime(connection) {} }
        return (try? SQLiteStatements(on: connection.handle).texts("PRAGMA journal_mode = DELETE")) == ["delete"]
    }

    /// GRDB's own table.
    private static let stepTable = "grdb_migrations"

    /// 0 where there is none.
    private static func size(of path: String) throws(StoreError) -> Int64 {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno != ENOENT else { return 0 }
            throw .unavailable(path: path, detail: String(cString: strerror(errno)).lowercased())
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return Int64(status.st_size)
        case S_IFDIR: throw .unusable(database: path, detail: "it is a folder; name a file in it")
        default: throw .unusable(database: path, detail: "it is no file")
        }
    }

    /// https://www.sqlite.org/fileformat2.html, section 1.3.
    private static func beginsAsDatabase(_ path: String) throws(StoreError) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .unavailable(path: path, detail: String(cString: strerror(errno)).lowercased())
        }
        defer { close(descriptor) }
        let magic = Array("SQLite format 3\0".utf8)
        var bytes = [UInt8](repeating: 0, count: magic.count)
        return read(descriptor, &bytes, bytes.count) == magic.count && bytes == magic
    }
}

extension SQLiteStatements {
    fileprivate func texts(_ sql: String) throws(StoreError) -> Set<String> {
        var texts: Set<String> = []
        try run(sql, []) { statement in
            if case .text(let text) = SQLValue(statement, column: 0) { texts.insert(text) }
        }
        return texts
    }

    fileprivate func header() throws(StoreError) -> DatabaseHeader {
        try DatabaseHeader.read(in: SQLiteSession(self, remembering: nil))
    }
}

extension SQLiteDatabase {
    /// What keeps a record from being kept in this file, as far as it can be told without making or changing anything;
    /// nil where nothing does.
    package static func objection(to path: String) -> StoreError? {
        do {
            _ = try SQLiteFile.contents(at: path, leavingNoTrace: true)
            return NetworkFileSystem.objection(to: path)
        } catch {
            return error
        }
    }

    /// Whether both paths lead to one file, however they are written.
    package static func areSame(_ one: String, _ other: String) -> Bool { SQLiteFile.areSame(one, other) }
}

extension SQLiteDatabase {
    /// Whether a database is at the path. A file without tables isn't one yet.
    package static func exists(at path: String) -> Bool {
        do {
            return switch try SQLiteFile.contents(at: path, leavingNoTrace: true) {
            case .nothing, .noTables: false
            case .record, .unknown: true
            }
        } catch {
            return true
        }
    }

    /// The newest copy of an open database that was replaced; nil if there is none beside the path.
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
