import Foundation

enum FolderLock {
    /// Does work while this process has a lock. The system also removes the lock if the process is killed.
    ///
    /// - Parameters:
    ///   - path: the file or folder to lock.
    ///   - folder: the one that the command works in, for the error.
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
        // Closing isn't enough if this process starts another one now, which has a copy of the descriptor for a moment.
        defer { flock(descriptor, LOCK_UN) }
        return try work()
    }
}
