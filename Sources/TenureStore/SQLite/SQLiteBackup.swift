import Foundation
import TenureFileAttributes

/// Makes a consistent copy of an SQLite database while a service keeps writing.
package struct SQLiteBackup: Sendable {
    let source: String
    let target: String

    package init(of source: String, to target: String) {
        self.source = source
        self.target = target
    }

    /// Why there is no backup.
    package enum Failure: Error, Sendable, Hashable {
        case noSource(path: String)
        case exists(path: String)
        /// The target and the source are the same file, perhaps under two names.
        case itself(path: String)
        /// Another process has the target open.
        case inUse(path: String)
        /// The log of a missing database is beside the target.
        case log(path: String)
        case cannotWrite(path: String, detail: String)
        case database(StoreError)
    }

    /// Makes a complete copy, which is flushed and read back. If that fails, no incomplete copy is left.
    ///
    /// Databases of all releases can be copied, because operators make copies before an update.
    package func run(replacing: Bool) throws(Failure) -> SQLiteCopy.Contents {
        guard FileManager.default.fileExists(atPath: source) else { throw .noSource(path: source) }
        guard replacing || !FileManager.default.fileExists(atPath: target) else { throw .exists(path: target) }
        guard !SQLiteFile.areSame(source, target) else { throw .itself(path: target) }
        do throws(StoreError) {
            guard try SQLiteFile.holdsDatabase(at: source) else {
                throw .unusable(database: source, detail: "it has no data; check the path")
            }
        } catch .newerDatabase {
            // A backup copies the database of a newer release unchanged.
        } catch {
            throw .database(error)
        }
        try clearLog()
        return try copy(replacing: replacing)
    }

    /// Clears the log that remains beside the target. SQLite would apply this log to the copy.
    private func clearLog() throws(Failure) {
        let path = SQLiteFile.resolved(target)
        guard let log = FileState(path: path + SQLiteOpenFiles.logSuffix) else { return }
        // If the database of the log is missing, the log may have the only data that is left.
        guard FileIdentity.exists(path) || log.size == 0 else { throw .log(path: target) }
        do throws(StoreError) {
            if FileIdentity.exists(path), try mergesLog(path) { return }
            guard let lock = try SQLiteFileLock(path: path) else { throw .busy }
            defer { withExtendedLifetime(lock) {} }
            for suffix in [SQLiteOpenFiles.logSuffix, SQLiteOpenFiles.indexSuffix] { unlink(path + suffix) }
        } catch .busy {
            throw .inUse(path: target)
        } catch {
            throw .database(error)
        }
    }

    /// Writes the log into the database. Returns false if the database is damaged, because SQLite can't use the log then.
    private func mergesLog(_ path: String) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try SQLiteFile.mergeLog(path)
            return true
        } catch .damaged {
            return false
        }
    }

    /// Copies the source to the target, with the errors of a backup.
    private func copy(replacing: Bool) throws(Failure) -> SQLiteCopy.Contents {
        let connection: SQLiteConnection
        do throws(StoreError) {
            // Opened for writing, because a reader would leave a log beside a database that nothing else has open.
            connection = try SQLiteCopyNumber.opened(SQLiteFile.resolved(source))
        } catch {
            throw .database(error)
        }
        do throws(SQLiteCopy.Failure) {
            return try SQLiteCopy(target: target).write(from: connection, replacing: replacing)
        } catch {
            switch error {
            case .exists: throw .exists(path: target)
            case .cannotWrite(let detail): throw .cannotWrite(path: target, detail: detail)
            case .store(let error): throw .database(error)
            }
        }
    }
}

extension SQLiteBackup.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noSource(let path): "there is no database at `\(path)`; set --database to your service's database"
        case .exists(let path): "`\(path)` exists already; choose another name, or replace it with --force"
        case .itself(let path): "`\(path)` is the database itself; choose another name"
        case .inUse(let path):
            "`\(path)` is a database that another process has open; stop the process, or choose another name"
        case .log(let path):
            "the database of the log `\(path)\(SQLiteOpenFiles.logSuffix)` is missing; move the log away, or choose another name"
        case .cannotWrite(let path, let detail):
            "`\(path)` can't be written (\(detail)); check that the folder exists and that you may write to it"
        case .database(let error): error.description
        }
    }
}
