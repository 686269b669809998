/// The reason why a backup, a restore or a vacuum of an SQLite database failed.
package enum SQLiteFileError: Error, Sendable, Hashable {
    /// There is no database to back up.
    case noDatabase(path: String)
    /// There is no backup to restore.
    case noBackup(path: String)
    /// A file is at the path to which a backup should be written.
    case exists(path: String)
    /// The backup to write or to restore is the database itself, perhaps under another name.
    case itself(path: String)
    /// Another process has the database open.
    case inUse(path: String)
    /// Another process has the target of a backup open.
    case targetInUse(path: String)
    /// The target of a backup doesn't exist, but a write-ahead log with its name does.
    case log(path: String)
    case cannotWrite(path: String, detail: String)
    /// The new file is complete and has its name, but its folder couldn't be flushed.
    case notFlushed(path: String, detail: String)
    /// The file to restore isn't a complete database of the app.
    case unusableBackup(path: String, StoreError)
    /// Reading or writing the database failed.
    case store(StoreError)
}

extension SQLiteFileError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noDatabase(let path): "there is no database at `\(path)`; set --database to your service's database"
        case .noBackup(let path): "there is no backup at `\(path)`; name a file that `tenure database backup` made"
        case .exists(let path): "`\(path)` exists already; choose another name, or replace it with --force"
        case .itself(let path): "`\(path)` is the database itself; choose another file"
        case .inUse(let path):
            "`\(path)` is open in another process; stop the service and the commands that use it, and try again"
        case .targetInUse(let path):
            "`\(path)` is a database that another process has open; stop the process, or choose another name"
        case .log(let path):
            "`\(path)\(SQLiteOpenFiles.logSuffix)` is the write-ahead log of a missing database; move the log away, or choose another name"
        case .cannotWrite(let path, let detail):
            "`\(path)` can't be written (\(detail)); check that the folder exists and that you may write to it"
        case .notFlushed(let path, let detail):
            "`\(path)` is complete, but its folder can't be flushed (\(detail)), so a loss of power may undo the change; check the disk, and that you may read the folder"
        case .unusableBackup(let path, let error):
            "the backup `\(path)` can't be restored, and the database stays as it is: \(error)"
        case .store(.full): "there is no room on the disk for a second copy of the database; make room, and try again"
        case .store(let error): error.description
        }
    }
}
