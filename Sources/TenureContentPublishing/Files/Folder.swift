import Foundation
import TenureFileAttributes

/// Lists, creates, locks and exchanges folders.
enum Folder {
    /// Returns the names of the files and folders in the folder at `path`, sorted by their bytes. Each name has the
    /// same bytes as on the disk. A name that isn't UTF-8 is nil.
    static func names(in path: String) throws(PublishingError) -> [String?] {
        guard let stream = opendir(path) else { throw .reading(path) }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .reading(path) }
                break
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 1) { start in
                    [UInt8](UnsafeRawBufferPointer(start: start, count: strlen(start)))
                }
            }
            if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            return text.utf8.elementsEqual(bytes) ? text : nil
        }
    }

    /// Whether macOS creates files of this name in folders that a person opens or copies. Such files aren't content.
    static func isMadeByMacOS(_ name: String) -> Bool { name == ".DS_Store" || name.hasPrefix("._") }

    // MARK: Creating

    /// Creates a folder that a web server can read, and its missing parents. An existing folder isn't changed.
    static func make(_ path: String) throws(PublishingError) {
        if try makeLast(path) { return }
        let parent = (path as NSString).deletingLastPathComponent
        if !parent.isEmpty { try make(parent) }
        guard try makeLast(path) else { throw .writing(path) }
    }

    /// Creates only the last folder of a path. Returns false if its parent folder doesn't exist.
    private static func makeLast(_ path: String) throws(PublishingError) -> Bool {
        // Make it readable for a web server that runs as another user.
        if mkdir(path, 0o755) == 0 { return true }
        // Read `errno` now, because the next call may change it.
        let (code, failure) = (errno, PublishingError.writing(path))
        if code == EEXIST, FileState(path: path, followsLinks: true)?.kind == .folder { return true }
        guard code == ENOENT, path != "/" else { throw failure }
        return false
    }

    // MARK: Locking

    /// Runs a closure while this process has a lock, which one process at a time can have. If the process is killed,
    /// the system releases the lock.
    ///
    /// - Parameters:
    ///   - path: the file or folder to lock.
    ///   - flags: the flags for `open`, such as `O_CREAT` for a file that may be missing.
    ///   - folder: the folder that the user named, for the error message.
    /// - Throws: `locked` if another process has the lock.
    static func withLock<Result>(
        on path: String, flags: CInt, in folder: String, _ work: () throws(PublishingError) -> Result
    ) throws(PublishingError) -> Result {
        let descriptor = open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .writing(path) }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? .locked(folder: folder) : .writing(path)
        }
        // Unlock explicitly. A child process that was just forked may still have a copy of the descriptor. Then closing
        // this descriptor doesn't release the lock.
        defer { flock(descriptor, LOCK_UN) }
        return try work()
    }

    // MARK: Exchanging

    /// Exchanges the names of two folders in one step. If the process is killed, both folders are still complete.
    ///
    /// - Returns: true if the folders were exchanged, and false if the system or the file system can't do this in one
    ///   step.
    static func exchange(_ first: String, _ second: String) throws(PublishingError) -> Bool {
        #if canImport(Darwin)
            let result = renamex_np(first, second, UInt32(RENAME_SWAP))
        #else
            // The C library's function is looked up at run time, because Swift's C library module doesn't declare it.
            typealias Rename =
                @convention(c) (CInt, UnsafePointer<CChar>, CInt, UnsafePointer<CChar>, CUnsignedInt) -> CInt
            guard let symbol = dlsym(nil, "renameat2") else { return false }
            let exchange: CUnsignedInt = 1 << 1  // RENAME_EXCHANGE
            let result = unsafeBitCast(symbol, to: Rename.self)(AT_FDCWD, first, AT_FDCWD, second, exchange)
        #endif
        if result == 0 { return true }
        guard [EINVAL, ENOSYS, ENOTSUP].contains(errno) else { throw .writing(second) }
        return false
    }
}
