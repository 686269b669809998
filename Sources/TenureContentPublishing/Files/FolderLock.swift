import Foundation

/// A lock on a file or a folder, which one process at a time can have.
enum FolderLock {
    /// Runs a closure while this process has a lock. If the process is killed, the system releases the lock.
    ///
    /// - Parameters:
    ///   - path: the file or folder to lock.
    ///   - flags: the flags for `open`, such as `O_CREAT` for a file that may be missing.
    ///   - folder: the folder that the user named, for the error message.
    /// - Throws: `locked` if another process has the lock.
    static func hold<Result>(
        _ path: String, flags: CInt, in folder: String, _ work: () throws(PublishingError) -> Result
    ) throws(PublishingError) -> Result {
        let descriptor = open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .writing(path) }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? .locked(folder: folder) : .writing(path)
        }
        // Unlock explicitly. Closing the descriptor doesn't release the lock if this process is just starting another
        // process, which has a copy of the descriptor for a moment.
        defer { flock(descriptor, LOCK_UN) }
        return try work()
    }
}
