import Foundation
import TenureFileAttributes
import TenureFiles

/// A file that is open for reading. It is closed automatically.
struct OpenFile: ~Copyable {
    private let descriptor: CInt
    let path: String
    /// The file's state when it was opened, such as its size. If it differs later, the file was changed.
    let state: FileState

    /// Opens a regular file. Throws for symbolic links and devices.
    init(path: String) throws(PublishingError) {
        // Don't block: opening a pipe would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw .reading(path) }
        guard let state = FileState(descriptor: descriptor), state.kind == .file else {
            close(descriptor)
            throw .unreadable(path: path, reason: "not a file")
        }
        self.descriptor = descriptor
        self.path = path
        self.state = state
    }

    deinit { close(descriptor) }

    /// Reads the next bytes until the buffer is full or the file ends. Returns the number of bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(PublishingError) -> Int {
        guard let count = readBytes(from: descriptor, into: buffer) else { throw .reading(path) }
        return count
    }

    /// Reads bytes at an offset. Returns fewer than `count` if the file ends before.
    func bytes(_ count: Int, at offset: Int64) throws(PublishingError) -> [UInt8] {
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw .reading(path) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        return Array(buffer.prefix(try read(into: buffer)))
    }

    /// Throws if the file was changed since it was opened.
    func checkUnchanged() throws(PublishingError) {
        guard FileState(descriptor: descriptor) == state else { throw .changed(path: path) }
    }
}
