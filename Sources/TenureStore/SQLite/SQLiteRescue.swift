import CSQLite
import Foundation
import TenureFileAttributes

/// Saves the contents of an open database after its file was replaced, and keeps the write-ahead log away from the
/// new file.
struct SQLiteRescue {
    let files: SQLiteOpenFiles
    let replacement: FileReplacement

    /// The suffix of the copy's name.
    static let suffix = ".saved"

    /// Returns what an operator has to know: what happened, and what to do.
    func run() -> String {
        let path = files.path
        let isOnlyIndexReplaced = files.isOnlyIndexReplaced(in: replacement)
        if isOnlyIndexReplaced, isOverwritten {
            // Copying would read the index through mapped memory, and crash if the new index is shorter.
            unlink(path + SQLiteOpenFiles.indexSuffix)
            return "\(replacement) while it was open. Nothing is read or written until a restart, which loses nothing."
        }
        let copy = SQLiteCopy.freeName(path + Self.suffix)
        if isOverwritten { waitForEnd() }
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
        let backup = failure == nil ? copy : "BACKUP"
        parts.append(
            "Stop the service, run `tenure database restore --database \(path) \(backup)`, and start the service.")
        return parts.joined(separator: " ")
    }

    private var isOverwritten: Bool { replacement.change == .overwritten }

    /// Waits until the program that overwrites the files is done: until nothing has changed for a second. Waits about a
    /// minute at most.
    private func waitForEnd() {
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

    /// Copies the open database. Returns why that failed; nil if the copy is complete.
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

    /// Removes the log if the copy has its content, otherwise renames it, because SQLite would write it into the new
    /// file. Removes the index, too.
    ///
    /// - Returns: where the log is now; nil if it isn't needed anymore.
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
