import Foundation
import TenureFileAttributes

/// Puts a copy of a backup in the place of an SQLite database that no process has open.
package struct SQLiteRestore: Sendable {
    let backup: String
    package let database: String

    /// The bundle ID of the service's app; nil for the app of the replaced database.
    package let bundleID: String?

    package init(of backup: String, to database: String, for bundleID: String? = nil) {
        self.backup = backup
        self.database = database
        self.bundleID = bundleID
    }

    /// Why nothing was restored.
    package enum Failure: Error, Sendable, Hashable {
        case noBackup(path: String)
        /// The database itself, under any name.
        case itself(path: String)
        case inUse(path: String)
        case cannotWrite(path: String, detail: String)
        case unusableBackup(path: String, StoreError)
        case store(StoreError)
    }

    /// What was restored.
    package struct Receipt: Sendable, Hashable {
        package let contents: SQLiteCopy.Contents
        /// The new path of the replaced database; nil if no database was replaced.
        package let replacedPath: String?
    }

    /// Checks the backup, copies it beside the database, and puts the copy in the database's place. The database stays
    /// locked while its log is moved away and the copy gets its name, so that no process opens it in between.
    package func run() throws(Failure) -> Receipt {
        let path = SQLiteFile.resolved(database)
        guard FileManager.default.fileExists(atPath: backup) else { throw .noBackup(path: backup) }
        guard !SQLiteFile.areSame(backup, path) else { throw .itself(path: backup) }
        if let objection = NetworkFileSystem.objection(to: path) { throw .store(objection) }
        // Fail early if the database is in use, because copying takes a while. This lock ends immediately, because
        // SQLite opens the database again below.
        guard try lock(path) != nil else { throw .inUse(path: database) }
        let staged = SQLiteCopy.freeName(path + ".restoring")
        let contents = try stage(at: staged, beside: path)
        defer { unlink(staged) }
        if FileIdentity.exists(path + SQLiteOpenFiles.logSuffix), FileIdentity(path: path)?.kind == .file {
            // If this fails, the log stays beside the replaced database, and SQLite finds it there.
            try? SQLiteFile.mergeLog(path)
        }
        guard let lock = try lock(path) else { throw .inUse(path: database) }
        defer { withExtendedLifetime(lock) {} }
        return Receipt(contents: contents, replacedPath: try exchange(path, for: staged))
    }

    private func lock(_ path: String) throws(Failure) -> SQLiteFileLock? {
        do throws(StoreError) {
            return try SQLiteFileLock(path: path)
        } catch {
            throw .store(error)
        }
    }

    /// Checks the backup, copies it to `staged`, and reads the copy.
    private func stage(at staged: String, beside path: String) throws(Failure) -> SQLiteCopy.Contents {
        let source: SQLiteConnection
        do throws(StoreError) {
            guard try SQLiteFile.holdsDatabase(at: backup) else {
                throw .unusable(database: backup, detail: "it contains no Tenure database; choose another backup")
            }
            // A damaged database doesn't say which app it belongs to.
            if let expected = bundleID ?? SQLiteFile.header(at: path)?.bundleID,
                let found = SQLiteFile.header(at: backup)?.bundleID, found != expected
            {
                throw .otherApp(database: backup, found: found, expected: expected)
            }
            let resolved = SQLiteFile.resolved(backup)
            let hasLog = FileIdentity.exists(resolved + SQLiteOpenFiles.logSuffix)
            source = try SQLiteConnection(path: resolved, for: hasLog ? .reading : .readingImmutable)
        } catch {
            throw .unusableBackup(path: backup, error)
        }
        // The command may run as root, and the service as another user.
        let folder = (path as NSString).deletingLastPathComponent
        let owner =
            geteuid() == 0
            ? FilePermissions.owner(ofFileAt: path)
                ?? FilePermissions.owner(ofFileAt: folder.isEmpty ? "." : folder) : nil
        do throws(SQLiteCopy.Failure) {
            return try SQLiteCopy(target: staged).write(from: source, replacing: false, owner: owner)
        } catch {
            switch error {
            case .exists: throw .cannotWrite(path: staged, detail: "it exists already")
            case .cannotWrite(let detail): throw .cannotWrite(path: staged, detail: detail)
            case .store(let error): throw .unusableBackup(path: backup, error)
            }
        }
    }

    /// Gives the database another name, and the copy the database's name. At every moment there is a complete database
    /// at the path.
    ///
    /// - Returns: the new name of the replaced database; nil if there was no database.
    private func exchange(_ path: String, for staged: String) throws(Failure) -> String? {
        let kept = SQLiteCopy.freeName(path + ".replaced")
        let (log, index) = (SQLiteOpenFiles.logSuffix, SQLiteOpenFiles.indexSuffix)
        let hasDatabase = FileIdentity.exists(path)
        if hasDatabase, link(path, kept) != 0 { throw cannotWrite(kept) }
        if FileIdentity.exists(path + log), rename(path + log, kept + log) != 0 {
            let failure = cannotWrite(kept + log)
            unlink(kept)
            throw failure
        }
        unlink(path + index)
        guard rename(staged, path) == 0 else {
            let failure = cannotWrite(path)
            rename(kept + log, path + log)
            unlink(kept)
            throw failure
        }
        guard SQLiteCopy.flushFolder(of: path) else { throw cannotWrite(path) }
        return hasDatabase ? kept : nil
    }

    private func cannotWrite(_ path: String) -> Failure {
        .cannotWrite(path: path, detail: systemMessage)
    }
}

extension SQLiteRestore.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noBackup(let path): "there is no backup at `\(path)`; name a file that `tenure database backup` made"
        case .itself(let path): "`\(path)` is the database itself; name a backup"
        case .inUse(let path):
            "`\(path)` is open in another process; stop the service and the commands that use it, and try again"
        case .cannotWrite(let path, let detail):
            "`\(path)` can't be written (\(detail)); check the folder and who may write to it"
        case .unusableBackup(let path, let error):
            "the backup `\(path)` can't be restored, and the database stays as it is: \(error)"
        case .store(let error): error.description
        }
    }
}
