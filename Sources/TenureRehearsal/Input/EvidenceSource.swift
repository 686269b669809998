import Foundation

/// The source of an evidence file's bytes: a file, which may be compressed with gzip, or standard input.
///
/// A compressed file is decompressed by `gzip -dc` in a child process, at the same time as lines are verified.
package final class EvidenceSource {
    /// The path of the file, or `standard input`.
    private let name: String
    /// The file descriptor from which decompressed bytes are read.
    private let descriptor: Int32
    /// The file on the disk, compressed or not; nil for standard input.
    private let file: FileHandle?
    /// The process of `gzip`; nil if the input isn't compressed.
    let child: Process?
    /// The pipe from `gzip`, which must stay open while `descriptor` is read.
    private var pipe: Pipe?
    /// Whether all decompressed bytes were read.
    private var isAtEnd = false
    /// The size of the file in bytes, compressed or not; nil if it is unknown.
    let size: Int?

    /// - Parameter path: the path of the file. `-` is standard input, which must not be compressed.
    package init(path: String) throws(RehearsalError) {
        name = path == "-" ? "standard input" : path
        guard path != "-" else {
            (file, child, size) = (nil, nil, nil)
            descriptor = STDIN_FILENO
            return
        }
        guard let file = FileHandle(forReadingAtPath: path) else { throw .unreadable(path) }
        // A pipe such as `/dev/fd/63` has no size.
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        let type = attributes?[.type] as? FileAttributeType
        guard type != .typeDirectory else { throw .folder(path) }
        let isFile = type == .typeRegular
        size = isFile ? (attributes?[.size] as? NSNumber)?.intValue : nil
        self.file = file
        guard isFile, Self.isCompressed(file) else {
            child = nil
            descriptor = file.fileDescriptor
            return
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gzip", "-dc"]
        // The child process shares this process's position in the file, so that the position shows the progress.
        process.standardInput = file
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            throw .noGzip(path)
        }
        // Close this process's write end of the pipe. Otherwise reading from the pipe would never end.
        try? pipe.fileHandleForWriting.close()
        child = process
        self.pipe = pipe
        descriptor = pipe.fileHandleForReading.fileDescriptor
    }

    /// Whether the file begins with gzip's magic number (RFC 1952, section 2.3.1).
    private static func isCompressed(_ file: FileHandle) -> Bool {
        var magic: [UInt8] = [0, 0]
        return pread(file.fileDescriptor, &magic, 2, 0) == 2 && magic == [0x1F, 0x8B]
    }

    /// The smallest size in bytes at which the position in a compressed file shows the progress. `gzip` reads 256 KB at
    /// once, so its position is up to 256 KB ahead of the lines. In a smaller file, 256 KB are more than one percent.
    static let smallestMeasured = 100 * 256 << 10

    /// The position in the file on the disk up to which the file was read; nil if the position doesn't show how many of
    /// the lines were read.
    var position: Int? {
        guard let file, let size, child == nil || size >= Self.smallestMeasured else { return nil }
        return Int(lseek(file.fileDescriptor, 0, SEEK_CUR))
    }

    /// Returns the next bytes. The result is empty at the end, or once `isStopped` returns true.
    func read(upTo count: Int, isStopped: () -> Bool) throws(RehearsalError) -> [UInt8] {
        while !isStopped() {
            // A terminal or a pipe may send nothing for a long time, so wait only 200 ms before asking `isStopped`
            // again.
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, 200)
            if ready == 0 || (ready < 0 && errno == EINTR) { continue }
            var readCount = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                readCount = Foundation.read(descriptor, buffer.baseAddress, count)
                initialized = max(0, readCount)
            }
            if readCount < 0, errno == EINTR || errno == EAGAIN { continue }
            guard readCount >= 0 else { throw .unreadable(name) }
            isAtEnd = readCount == 0
            return bytes
        }
        return []
    }

    /// Waits for `gzip`, the child process, to end. If the evidence wasn't read to its end, stops `gzip` first.
    ///
    /// - Returns: why `gzip` failed; nil if it succeeded or was stopped, or if the input isn't compressed.
    func close() -> RehearsalError? {
        guard let child else { return nil }
        guard isAtEnd else {
            // The child process may have inherited that SIGTERM is ignored.
            kill(child.processIdentifier, SIGKILL)
            child.waitUntilExit()
            return nil
        }
        child.waitUntilExit()
        let status = child.terminationStatus
        guard child.terminationReason == .exit else {
            // A terminal sends SIGINT to `gzip` too, perhaps before this process has handled the signal.
            return status == SIGINT ? nil : .gzipKilled(signal: status)
        }
        switch status {
        // `env` exits with 127 if it doesn't find `gzip`.
        case 127: return .noGzip(name)
        // Exit code 2 is a warning, such as about bytes after the end of the archive.
        case 0, 2: return nil
        default: return .damagedArchive
        }
    }
}
