import Foundation
import TenureFileAttributes

/// Lets one process at a time open an SQLite database.
///
/// The first process that opens a closed database gives it a new number (`SQLiteCopyNumber`). Without this lock, a
/// second process that opens the database meanwhile could still read the old number. When the second process later
/// found the new number, it would take the database for another copy, and move away the log that both processes use.
///
/// The lock is held as long as this object exists. `withExtendedLifetime` in a `defer` keeps it until a function ends.
///
/// The lock is on a file beside the database. It can't be on the database itself: when a process closes any descriptor
/// of a file, it loses all POSIX locks on that file, so SQLite's locks would be lost.
final class SQLiteOpeningLock {
    private let path: String
    /// The descriptor of the lock's file; -1 without a lock.
    private var file: CInt = -1

    private static let suffix = "-opening"
    /// The maximum number of attempts to lock the file.
    private static let attempts = 500
    /// The pause between two attempts, in microseconds.
    private static let pause: UInt32 = 10_000

    /// Waits at most 5 seconds for the lock. Throws `busy` if another process keeps the lock for longer.
    ///
    /// Has no effect if the lock's file can't be created, or if the file system doesn't support `flock`.
    ///
    /// - Parameter database: the path of the database, without symbolic links.
    init(database: String) throws(StoreError) {
        path = database + Self.suffix
        for _ in 0..<Self.attempts {
            file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard file >= 0 else { return }
            let isLocked = flock(file, LOCK_EX | LOCK_NB) == 0
            let failure = errno
            // The process that had the lock deletes the file. So this process may have locked a deleted file, while
            // another process locks a new file at the path. Then it tries again.
            if isLocked, FileIdentity(descriptor: file) == FileIdentity(path: path) { return }
            close(file)
            file = -1
            guard isLocked || failure == EWOULDBLOCK || failure == EINTR else { return }
            usleep(Self.pause)
        }
        throw .busy
    }

    deinit {
        guard file >= 0 else { return }
        unlink(path)
        // Unlock explicitly: a child process that just starts has a copy of the descriptor for a moment.
        flock(file, LOCK_UN)
        close(file)
    }
}

/// Locks the files of a database as SQLite does, so that no other process opens the database while this object exists.
/// The files may have any content.
///
/// The process must not open these files by other means meanwhile: closing any descriptor of a file drops the locks of
/// the process (https://www.sqlite.org/howtocorrupt.html, section 2.2).
final class SQLiteFileLock {
    private var descriptors: [CInt] = []

    /// The bytes of the database's file that SQLite locks: the pending byte, the reserved byte and 510 shared bytes
    /// (https://www.sqlite.org/src/file?name=src/os.h).
    private static let databaseRange: (start: off_t, length: off_t) = (0x4000_0000, 512)
    /// The bytes of the log's index that SQLite locks: eight locks, and one that every process holds while it uses the
    /// index (https://www.sqlite.org/walformat.html, section 2.3).
    private static let indexRange: (start: off_t, length: off_t) = (120, 9)

    /// Locks the files that exist. Nil if another process has one of them open.
    ///
    /// - Parameter path: the path of the database, without symbolic links.
    init?(path: String) throws(StoreError) {
        for (path, range) in [(path, Self.databaseRange), (path + SQLiteOpenFiles.indexSuffix, Self.indexRange)] {
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
