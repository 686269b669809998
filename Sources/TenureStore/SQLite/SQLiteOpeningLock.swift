import Foundation

/// Lets one process at a time open the databases of a folder.
///
/// The first process that opens a copy gives it a new number (`SQLiteCopyNumber`). A process that read the old number
/// in between would take the new one for another file, and move the log away that both use.
final class SQLiteOpeningLock {
    private let folder: CInt

    private static let attempts = 500
    /// The pause between two attempts, in microseconds.
    private static let pause: UInt32 = 10_000

    /// Waits at most 5 seconds for the lock. Throws `busy` if another process has it for longer.
    ///
    /// Has no effect if the process may not list the folder.
    ///
    /// - Parameter path: the path of the database, without symbolic links.
    init(path: String) throws(StoreError) {
        folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        for _ in 0..<Self.attempts {
            if flock(folder, LOCK_EX | LOCK_NB) == 0 { return }
            usleep(Self.pause)
        }
        throw .busy
    }

    deinit {
        guard folder >= 0 else { return }
        // Unlocked explicitly: a child process that just starts has a copy of the descriptor for a moment.
        flock(folder, LOCK_UN)
        close(folder)
    }
}
