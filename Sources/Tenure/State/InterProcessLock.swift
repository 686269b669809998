import Foundation

/// A lock that one process at a time holds, and one `Tenure` at a time within a process.
///
/// If the process ends, the kernel releases the lock, even after a crash.
struct InterProcessLock {
    let path: String

    private static let attempts = 200
    /// The pause between two attempts, in microseconds.
    private static let pause: UInt32 = 10_000

    /// Runs `body` with the lock, and waits at most 2 seconds for it.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        // Child processes must not inherit the descriptor: they would hold the lock as long as they run.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unavailable }
        // Closing the file releases the lock.
        defer { _ = close(descriptor) }
        for attempt in 1...Self.attempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return try body() }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw unavailable }
            if attempt < Self.attempts { usleep(Self.pause) }
        }
        throw StateStorageError.lockTimeout(path: path)
    }

    /// The error for the system call that has just failed.
    private var unavailable: StateStorageError {
        .lockUnavailable(path: path, reason: String(cString: strerror(errno)).lowercased())
    }
}
