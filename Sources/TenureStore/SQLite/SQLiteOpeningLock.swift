import Foundation
import TenureFileAttributes

/// Lets one process at a time open an SQLite database.
///
/// The first process that opens a closed database gives it a new number (`SQLiteCopyNumber`). Without this lock, a
/// second process that opens the database meanwhile could still read the old number. When the second process later
/// found the new number, it would take the database for another copy. It would then move away the log that both
/// processes use.
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
            // The process that had the lock deletes the file. A third process may have locked a new file at the path.
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
