import Foundation
import NIOCore
import NIOPosix
import TenureContent
import TenureFileAttributes
import TenureStore

/// An open file of a published folder. The file is closed when the last reference to this object is released.
///
/// A few separate threads read for all downloads, so that a slow disk delays nothing else.
final class ContentFile: Sendable {
    private let descriptor: CInt
    /// The size in bytes.
    let size: Int64

    /// The number of threads that read files.
    static let maximumThreads = 4
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: maximumThreads)
        threads.start()
        return threads
    }()

    private init(descriptor: CInt, size: Int64) {
        self.descriptor = descriptor
        self.size = size
    }

    deinit { close(descriptor) }

    /// Opens the file with this digest; nil if it doesn't exist or isn't a regular file.
    static func open(_ digest: ContentDigest, in folder: String) async throws -> ContentFile? {
        // A digest has only hexadecimal digits, so the path can't leave the folder.
        let path = "\(folder)/\(digest)"
        return try await threads.runIfActive {
            // Without `O_NONBLOCK`, opening a pipe would wait for a writer.
            let descriptor = systemOpen(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else {
                if [ENOENT, ELOOP, ENOTDIR].contains(errno) { return nil }
                throw ReadFailed(code: errno)
            }
            guard let state = FileState(descriptor: descriptor), state.kind == .file else {
                close(descriptor)
                return nil
            }
            return ContentFile(descriptor: descriptor, size: state.size)
        }
    }

    /// Reads exactly `count` bytes. Throws `ReadFailed` if reading fails, or if the file has become too short.
    func read(_ count: Int, at offset: Int64) async throws -> ByteBuffer {
        try await Self.threads.runIfActive { [self] in
            var buffer = ByteBufferAllocator().buffer(capacity: count)
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
                var filled = 0
                while filled < count {
                    let read = pread(
                        descriptor, bytes.baseAddress?.advanced(by: filled), count - filled,
                        off_t(offset) + off_t(filled))
                    if read < 0, errno == EINTR { continue }
                    // `pread` returns 0 if the file is shorter than when it was opened.
                    guard read > 0 else { throw ReadFailed(code: read < 0 ? errno : EIO) }
                    filled += read
                }
                return filled
            }
            return buffer
        }
    }

    /// A failure to open or read a file.
    struct ReadFailed: Error {
        /// The system's `errno`.
        let code: Int32
    }
}

// The method of `ContentFile` hides the system's function of the same name.
private func systemOpen(_ path: String, _ flags: CInt) -> CInt { open(path, flags) }
