import Foundation
import TenureFiles

/// A file that is written with a temporary name, and renamed when it is complete.
struct NewFile: ~Copyable {
    private let descriptor: CInt
    private let folder: String
    private let path: String

    /// The prefix of the names of unfinished files.
    static let prefix = ".unfinished-"

    /// Creates an empty file with a temporary name in a folder.
    init(in folder: String) throws(PublishingError) {
        self.folder = folder
        path = "\(folder)/\(Self.prefix)\(UInt64.random(in: .min ... .max))"
        // Make it readable for a web server that runs as another user.
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .writing(path) }
    }

    deinit {
        close(descriptor)
        // If the file was completed, this name no longer exists.
        unlink(path)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(PublishingError) {
        guard writeBytes(bytes, to: descriptor) else { throw .writing(path) }
    }

    /// Writes a whole file.
    static func write(
        _ bytes: some Collection<UInt8>, as name: String, in folder: String
    ) throws(PublishingError) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        let file = try NewFile(in: folder)
        try file.write(UnsafeRawBufferPointer(copy))
        try file.complete(as: name)
    }

    /// Renames the file to its final name. An existing file with this name is replaced in one step.
    ///
    /// - Parameter flushing: whether to flush the contents to the disk first. Pass false for files that can be written
    ///   again after a loss of power.
    consuming func complete(as name: String, flushing: Bool = true) throws(PublishingError) {
        guard !flushing || fsync(descriptor) == 0 else { throw .writing(path) }
        guard rename(path, "\(folder)/\(name)") == 0 else { throw .writing("\(folder)/\(name)") }
    }

    /// Flushes a folder to the disk, so that new names in it survive a loss of power.
    static func synchronize(folder: String) throws(PublishingError) {
        guard WholeFile.flushFolder(folder) else { throw .writing(folder) }
    }
}
