import CSQLite
import Foundation
import TenureFileAttributes

/// Saves the contents of an open database after one of its files was replaced. Also moves its write-ahead log away, so
/// that SQLite doesn't write the log into the new file.
struct SQLiteRescue {
    let files: SQLiteOpenFiles
    let replacement: FileReplacement

    /// The suffix of the saved copy's name, after the name of the database.
    static let suffix = ".saved"

    /// Saves the database. Returns the message for the operator: what happened, and what to do.
    func run() -> String {
        let path = files.path
        let isOnlyIndexReplaced = files.isOnlyIndexReplaced(in: replacement)
        if isOnlyIndexReplaced, isOverwritten {
            // Nothing is copied: copying would read the index through mapped memory, and crash if the new index is
            // shorter. The next start makes a new index.
            unlink(path + SQLiteOpenFiles.indexSuffix)
            return "\(replacement) while it was open. Nothing is read or written until a restart, which loses nothing."
        }
        let copy = SQLiteCopy.freeName(path + Self.suffix)
        if isOverwritten { waitUntilUnchanged() }
        var failure = save(to: copy)
        if failure != nil, isOverwritten {
            // Drop the cached pages that were read while the file was being overwritten, and try again.
            sqlite3_db_release_memory(files.connection.handle)
            failure = save(to: copy)
        }
        let log = isOnlyIndexReplaced ? nil : moveLog(to: copy + "-log", isSaved: failure == nil && !isOverwritten)
        var parts = ["\(replacement) while it was open. Nothing is read or written until a restart."]
        if let failure {
            parts.append("The open database can't be saved (\(failure)).")
        } else {
            parts.append("The open database is saved as `\(copy)`.")
            if isOverwritten {
                parts.append("It may have parts of the new file: check it with `tenure database check`.")
            }
        }
        if let log { parts.append("The old log is `\(log)`.") }
        let restore =
            failure == nil
            ? "`tenure database restore --database \(path) \(copy)`"
            : "`tenure database restore --database \(path) BACKUP` with the path of your last backup as `BACKUP`"
        parts.append("Stop the service, run \(restore), and start the service.")
        return parts.joined(separator: " ")
    }

    /// Whether the same file has other contents. Otherwise, another file or no file is at the path.
    private var isOverwritten: Bool { replacement.change == .overwritten }

    /// Waits until the program that overwrites the files is probably done: until the files haven't changed for a
    /// second. Waits about a minute at most.
    private func waitUntilUnchanged() {
        func states() -> [FileState?] {
            [files.path, files.path + SQLiteOpenFiles.logSuffix].map { FileState(path: $0, followsLinks: true) }
        }
        var previous = states()
        for _ in 0..<60 {
            usleep(1_000_000)
            let current = states()
            if current == previous { return }
            previous = current
        }
    }

    /// Copies the open database to the path `copy`. Returns why that failed; nil if the copy is complete.
    private func save(to copy: String) -> String? {
        do throws(SQLiteFileError) {
            _ = try SQLiteCopy(target: copy).write(from: files.connection, replacing: false)
            return nil
        } catch .notFlushed {
            // The copy is complete.
            return nil
        } catch .exists {
            return "`\(copy)` exists"
        } catch {
            return error.description
        }
    }

    /// Removes or renames the log, because SQLite would write it into the new file. Also removes the log's index.
    ///
    /// - Parameters:
    ///   - name: the new path of the log. If a file is there, a number is added.
    ///   - isSaved: whether the saved copy has the log's content. If so, the log is removed instead of renamed.
    /// - Returns: where the log is now; nil if it was removed, or wasn't one of the open files.
    private func moveLog(to name: String, isSaved: Bool) -> String? {
        let (log, index) = (files.path + SQLiteOpenFiles.logSuffix, files.path + SQLiteOpenFiles.indexSuffix)
        var newPath: String?
        if files.isOpen(log) {
            let name = SQLiteCopy.freeName(name)
            if isSaved {
                unlink(log)
            } else if rename(log, name) == 0 {
                newPath = name
            }
        }
        if files.isOpen(index) { unlink(index) }
        // The message to the operator is the same if the flush fails: the restore that it recommends moves the log
        // again.
        _ = SQLiteCopy.flushFolder(of: files.path)
        return newPath
    }
}
