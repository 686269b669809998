import Foundation
import TenureFiles

/// Why a file can't be read or written.
enum DiskFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// No space is left.
    case full
    /// Any other reason, as a text for the log.
    case failed(String)

    /// Creates the failure of a system call from `errno`.
    ///
    /// - Parameters:
    ///   - operation: what the call should do, such as `create`.
    ///   - path: the file that the call uses.
    init(_ operation: String, _ path: String) {
        let code = errno
        if code == ENOSPC || code == EDQUOT {
            self = .full
        } else {
            self = .failed("can't \(operation) `\(path)` (\(String(cString: strerror(code)).lowercased()))")
        }
    }

    var description: String {
        switch self {
        case .full: "no space is left on the device"
        case .failed(let reason): reason
        }
    }
}

/// File operations that use the system's calls. Callers build paths only from checked names, so a path that was stored
/// or downloaded can't lead out of its folder.
enum Disk {
    static func makeFolder(_ path: String) throws(DiskFailure) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            // Foundation's error lacks `errno`, so make the call that sets it.
            guard mkdir(path, 0o755) != 0, errno != EEXIST else { return }
            throw DiskFailure("create", path)
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Returns the names in a folder. Empty if the folder doesn't exist.
    static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    static func move(_ path: String, to other: String) throws(DiskFailure) {
        guard rename(path, other) == 0 else { throw DiskFailure("rename", path) }
    }

    /// Creates a hard link, a second name of the same file.
    static func addLink(_ path: String, as other: String) throws(DiskFailure) {
        guard link(path, other) == 0 else { throw DiskFailure("link", path) }
    }

    /// Replaces a small file, so that a reader sees either the old or the new contents.
    ///
    /// - Parameter isLasting: whether the new contents have to survive a loss of power.
    static func replace(_ path: String, with data: Data, isLasting: Bool = true) throws(DiskFailure) {
        let temporaryPath = "\(path).\(UInt64.random(in: .min ... .max)).new"
        let descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DiskFailure("create", path) }
        // After the file was renamed, there is nothing to remove.
        defer { unlink(temporaryPath) }
        do {
            defer { _ = close(descriptor) }
            try write(data, to: descriptor, at: 0, path)
            if isLasting, fsync(descriptor) != 0 { throw DiskFailure("write", path) }
        }
        guard rename(temporaryPath, path) == 0 else { throw DiskFailure("rename", path) }
        if isLasting { try flushFolder((path as NSString).deletingLastPathComponent) }
    }

    /// Reads a small file. Nil if it doesn't exist or has more than `maximumSize` bytes.
    static func contents(of path: String, maximumSize: Int) -> Data? {
        guard let file = FileStatus(path: path), file.size <= maximumSize else { return nil }
        return try? Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// Decodes a small file of JSON. Nil if it doesn't exist, has more than `maximumSize` bytes, or is of another type.
    static func decoded<Value: Decodable>(_ type: Value.Type, at path: String, maximumSize: Int) -> Value? {
        contents(of: path, maximumSize: maximumSize).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    /// Writes all bytes at this offset of an open file. Errors contain `path`.
    static func write(
        _ data: some DataProtocol & ContiguousBytes, to descriptor: Int32, at offset: Int64, _ path: String
    ) throws(DiskFailure) {
        let failure: DiskFailure? = data.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(written))
                if count > 0 {
                    written += count
                } else if count < 0, errno != EINTR {
                    return DiskFailure("write", path)
                }
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// Reads a part of a file, and passes its bytes to `piece` in several pieces. Returns false if the file ends before
    /// the part does.
    static func read(
        _ range: Range<Int64>, of descriptor: Int32, _ path: String, _ piece: (UnsafeRawBufferPointer) -> Void
    ) throws(DiskFailure) -> Bool {
        let size = Int(min(Int64(1 << 18), max(1, Int64(range.count))))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = Int(min(Int64(size), range.upperBound - offset))
            let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
            if count > 0 {
                piece(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                offset += Int64(count)
            } else if count == 0 {
                return false
            } else if errno != EINTR {
                throw DiskFailure("read", path)
            }
        }
        return true
    }

    /// Flushes a folder to the disk, so that names added to the folder survive a loss of power.
    static func flushFolder(_ path: String) throws(DiskFailure) {
        guard WholeFile.flushFolder(path) else { throw DiskFailure("flush", path) }
    }

    static func flushFile(_ path: String) throws(DiskFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DiskFailure("open", path) }
        defer { _ = close(descriptor) }
        guard fsync(descriptor) == 0 else { throw DiskFailure("write", path) }
    }

    /// The bytes of all files below a folder. A file with several hard links is added only once.
    static func size(below folder: String) -> Int64 {
        var countedFiles: Set<UInt64> = []
        var total: Int64 = 0
        let names = FileManager.default.enumerator(atPath: folder)
        while let name = names?.nextObject() as? String {
            guard let file = FileStatus(path: folder + "/" + name) else { continue }
            if file.linkCount > 1, !countedFiles.insert(file.identifier).inserted { continue }
            total += file.size
        }
        return total
    }

    /// The number of free bytes. Nil if the system doesn't report it.
    static func freeSpace(in folder: String) -> Int64? {
        #if canImport(Security) && !os(tvOS) && !os(watchOS)
            let keys: Set<URLResourceKey> = [.volumeAvailableCapacityForImportantUsageKey]
            let values = try? URL(fileURLWithPath: folder).resourceValues(forKeys: keys)
            if let free = values?.volumeAvailableCapacityForImportantUsage, free > 0 { return free }
        #endif
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        return Int64(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
    }
}
