import Foundation

/// A file that is written under a temporary name, and gets its own name when it is complete and on the disk.
struct NewFile: ~Copyable {
    private let descriptor: CInt
    private let folder: String
    private let path: String

    /// What the names of unfinished files begin with.
    static let prefix = ".unfinished-"

    init(in folder: String) throws(PublishingError) {
        self.folder = folder
        path = "\(folder)/\(Self.prefix)\(UInt64.random(in: .min ... .max))"
        // Web servers of other users read it.
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .writing(path) }
    }

    deinit {
        close(descriptor)
        // Gone already if the file was completed.
        unlink(path)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(PublishingError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno != EINTR {
                throw .writing(path)
            }
        }
    }

    func write(_ bytes: some Collection<UInt8>) throws(PublishingError) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        try write(UnsafeRawBufferPointer(copy))
    }

    /// Replaces what has this name in the folder, at once.
    consuming func complete(as name: String) throws(PublishingError) {
        guard fsync(descriptor) == 0 else { throw .writing(path) }
        guard rename(path, "\(folder)/\(name)") == 0 else { throw .writing("\(folder)/\(name)") }
    }

    /// Puts the names in a folder on the disk.
    static func synchronize(folder: String) throws(PublishingError) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .writing(folder) }
        defer { close(descriptor) }
        // Some file systems can't flush a folder, and say so.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw .writing(folder) }
    }
}
