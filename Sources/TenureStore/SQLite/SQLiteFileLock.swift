import Foundation

/// Locks the files of a database as SQLite does, so that no other process opens the database. The files may have any
/// content.
///
/// The process must not open these files by other means meanwhile: closing any descriptor of a file drops the locks of
/// the process (https://www.sqlite.org/howtocorrupt.html, section 2.2).
final class SQLiteFileLock {
    private var descriptors: [CInt] = []

    /// The bytes of the database's file that SQLite locks: the pending byte, the reserved byte and 510 shared bytes
    /// (https://www.sqlite.org/src/file?name=src/os.h).
    private static let database: (start: off_t, length: off_t) = (0x4000_0000, 512)
    /// The bytes of the log's index that SQLite locks: eight locks, and one that every process holds while it uses the
    /// index (https://www.sqlite.org/walformat.html, section 2.3).
    private static let index: (start: off_t, length: off_t) = (120, 9)

    /// Locks the files that exist. Nil if another process has one of them open.
    ///
    /// - Parameter path: the path of the database, without symbolic links.
    init?(path: String) throws(StoreError) {
        for (path, range) in [(path, Self.database), (path + SQLiteOpenFiles.indexSuffix, Self.index)] {
            let descriptor = open(path, O_RDWR | O_CLOEXEC)
            guard descriptor >= 0 else {
                if errno == ENOENT { continue }
                throw .unavailable(path: path, detail: systemMessage)
            }
            descriptors.append(descriptor)
            var lock = flock()
            lock.l_type = Int16(F_WRLCK)
            lock.l_whence = Int16(SEEK_SET)
            lock.l_start = range.start
            lock.l_len = range.length
            guard fcntl(descriptor, F_SETLK, &lock) == 0 else {
                if errno == EAGAIN || errno == EACCES { return nil }
                throw .unavailable(path: path, detail: systemMessage)
            }
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
