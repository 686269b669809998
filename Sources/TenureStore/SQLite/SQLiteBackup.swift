import Foundation
import TenureFileAttributes

/// Makes a consistent copy of an SQLite database. A service may write to the database meanwhile.
package struct SQLiteBackup: Sendable {
    /// The path of the database.
    let source: String
    /// The path of the copy.
    let target: String

    package init(of source: String, to target: String) {
        self.source = source
        self.target = target
    }

    /// Makes a complete copy, which is flushed and read back. If that fails, no incomplete copy is left. If only the
    /// flush of the folder fails (`notFlushed`), the complete copy stays.
    ///
    /// Databases of all releases can be copied, because operators make copies before an update.
    ///
    /// - Parameter replacing: whether to replace an existing file at `target`. If false, throws `exists` for such a
    ///   file.
    package func run(replacing: Bool) throws(SQLiteFileError) -> SQLiteCopy.Contents {
        guard FileManager.default.fileExists(atPath: source) else { throw .noDatabase(path: source) }
        guard replacing || !FileManager.default.fileExists(atPath: target) else { throw .exists(path: target) }
        guard !SQLiteFile.areSame(source, target) else { throw .itself(path: target) }
        do throws(StoreError) {
            guard try SQLiteFile.holdsDatabase(at: source)
            else { throw .unusable(database: source, detail: "it has no data; check the path") }
        } catch .newerDatabase {
            // A backup copies the database of a newer release unchanged.
        } catch {
            throw .store(error)
        }
        try removeOldLog()
        // Opened for writing, because a reader would leave a log beside a database that nothing else has open.
        let connection: SQLiteConnection
        do throws(StoreError) {
            connection = try SQLiteCopyNumber.opened(SQLiteFile.resolved(source))
        } catch {
            throw .store(error)
        }
        return try SQLiteCopy(target: target).write(from: connection, replacing: replacing)
    }

    /// Removes the write-ahead log (`-wal`) of an earlier database at the target. SQLite would apply this log to the
    /// copy.
    private func removeOldLog() throws(SQLiteFileError) {
        let path = SQLiteFile.resolved(target)
        guard let log = FileState(path: path + SQLiteOpenFiles.logSuffix) else { return }
        // If the database of the log is missing, the log may have the only data that is left.
        guard FileIdentity.exists(path) || log.size == 0 else { throw .log(path: target) }
        do throws(StoreError) {
            if FileIdentity.exists(path), try tryToMergeLog(path) { return }
            guard let lock = try SQLiteFileLock(path: path) else { throw .busy }
            defer { withExtendedLifetime(lock) {} }
            for suffix in [SQLiteOpenFiles.logSuffix, SQLiteOpenFiles.indexSuffix] { unlink(path + suffix) }
        } catch .busy {
            throw .targetInUse(path: target)
        } catch {
            throw .store(error)
        }
    }

    /// Writes the log into the database at the target, and removes the log. Returns false if that database is damaged,
    /// because SQLite can't use the log then.
    private func tryToMergeLog(_ path: String) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try SQLiteFile.mergeLog(path)
            return true
        } catch .damaged {
            return false
        }
    }
}
