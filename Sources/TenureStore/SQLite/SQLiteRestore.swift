import Foundation
import TenureFileAttributes

/// Puts a copy of a backup in the place of an SQLite database that no process has open.
package struct SQLiteRestore: Sendable {
    /// The path of the backup.
    let backup: String
    /// The path of the database to replace.
    package let database: String
    /// The bundle ID of the service's app; nil for the app of the replaced database.
    package let bundleID: String?

    package init(of backup: String, to database: String, for bundleID: String? = nil) {
        self.backup = backup
        self.database = database
        self.bundleID = bundleID
    }

    /// What was restored.
    package struct Outcome: Sendable, Hashable {
        package let contents: SQLiteCopy.Contents
        /// The new path of the replaced database; nil if no database was replaced.
        package let replacedPath: String?
    }

    /// Checks the backup, copies it beside the database, and puts the copy in the database's place. The database stays
    /// locked while its write-ahead log is moved away and the copy gets the database's name. So no process opens the
    /// database in between.
    package func run() throws(SQLiteFileError) -> Outcome {
        let path = SQLiteFile.resolved(database)
        guard FileManager.default.fileExists(atPath: backup) else { throw .noBackup(path: backup) }
        guard !SQLiteFile.areSame(backup, path) else { throw .itself(path: backup) }
        if let objection = NetworkFileSystem.objection(to: path) { throw .store(objection) }
        // Fail early if the database is in use, because copying takes a while. The lock is released immediately,
        // because SQLite opens the database again below.
        guard try lock(path) != nil else { throw .inUse(path: database) }
        let staged = SQLiteCopy.freeName(path + ".restoring")
        defer { unlink(staged) }
        let contents = try stage(at: staged, beside: path)
        if FileIdentity.exists(path + SQLiteOpenFiles.logSuffix), FileIdentity(path: path)?.kind == .file {
            // If this fails, the log stays beside the replaced database, and SQLite finds it there.
            try? SQLiteFile.mergeLog(path)
        }
        guard let lock = try lock(path) else { throw .inUse(path: database) }
        defer { withExtendedLifetime(lock) {} }
        return Outcome(contents: contents, replacedPath: try exchange(path, for: staged))
    }

    /// Locks the database at a path; nil if another process has it open.
    private func lock(_ path: String) throws(SQLiteFileError) -> SQLiteFileLock? {
        do throws(StoreError) {
            return try SQLiteFileLock(path: path)
        } catch {
            throw .store(error)
        }
    }

    /// Checks the backup, copies it to the path `staged`, and checks the copy. `path` is the database to replace.
    private func stage(at staged: String, beside path: String) throws(SQLiteFileError) -> SQLiteCopy.Contents {
        let source: SQLiteConnection
        do throws(StoreError) {
            guard try SQLiteFile.holdsDatabase(at: backup)
            else { throw .unusable(database: backup, detail: "it contains no Tenure database; choose another backup") }
            // A damaged database doesn't say which app it belongs to.
            if let expected = bundleID ?? SQLiteFile.header(at: path)?.bundleID,
                let actual = SQLiteFile.header(at: backup)?.bundleID, actual != expected
            {
                throw .otherApp(database: backup, found: actual, expected: expected)
            }
            source = try SQLiteFile.reader(at: backup)
        } catch {
            throw .unusableBackup(path: backup, error)
        }
        // If `tenure database restore` runs as root, the copy gets the owner of the replaced database (or of its
        // folder), because the service may run as another user.
        var owner: (user: UInt32, group: UInt32)?
        if geteuid() == 0 {
            let folder = (path as NSString).deletingLastPathComponent
            owner = FilePermissions.owner(ofFileAt: path)
            if owner == nil { owner = FilePermissions.owner(ofFileAt: folder.isEmpty ? "." : folder) }
        }
        do throws(SQLiteFileError) {
            return try SQLiteCopy(target: staged).write(from: source, replacing: false, owner: owner)
        } catch .exists {
            throw .cannotWrite(path: staged, detail: "it exists already")
        } catch .store(let error) {
            throw .unusableBackup(path: backup, error)
        }
    }

    /// Gives the database at `path` another name, and gives the copy at `staged` the database's name. At every moment
    /// there is a complete database at `path`.
    ///
    /// - Returns: the new path of the replaced database; nil if there was no database.
    private func exchange(_ path: String, for staged: String) throws(SQLiteFileError) -> String? {
        let replacedPath = SQLiteCopy.freeName(path + ".replaced")
        let (log, index) = (SQLiteOpenFiles.logSuffix, SQLiteOpenFiles.indexSuffix)
        let hasDatabase = FileIdentity.exists(path)
        if hasDatabase, link(path, replacedPath) != 0 { throw cannotWrite(replacedPath) }
        if FileIdentity.exists(path + log), rename(path + log, replacedPath + log) != 0 {
            let failure = cannotWrite(replacedPath + log)
            unlink(replacedPath)
            throw failure
        }
        unlink(path + index)
        guard rename(staged, path) == 0 else {
            let failure = cannotWrite(path)
            rename(replacedPath + log, path + log)
            unlink(replacedPath)
            throw failure
        }
        guard SQLiteCopy.flushFolder(of: path) else {
            let detail =
                hasDatabase ? "\(systemMessage); the previous database is now `\(replacedPath)`" : systemMessage
            throw .notFlushed(path: path, detail: detail)
        }
        return hasDatabase ? replacedPath : nil
    }

    private func cannotWrite(_ path: String) -> SQLiteFileError { .cannotWrite(path: path, detail: systemMessage) }
}
