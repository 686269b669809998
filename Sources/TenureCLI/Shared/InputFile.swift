import Foundation
import TenureAppStore
import TenureFileAttributes

/// A file that a command reads; `-` is standard input.
struct InputFile {
    let path: String

    var name: String { path == "-" ? "standard input" : path }

    /// Reads the whole file. Throws if the file can't be read, or is larger than `limit` bytes.
    ///
    /// - Parameter acceptsPipe: whether the file may be a pipe, which can be read once. Opening a pipe waits for a
    ///   writer.
    func bytes(limit: Int = AppStoreArtifact.maximumSize, acceptsPipe: Bool = true) throws -> [UInt8] {
        let handle: FileHandle
        if path == "-" {
            handle = .standardInput
        } else {
            guard let identity = FileIdentity(path: path) else {
                throw CommandError("there is no file `\(path)`; check the path")
            }
            guard identity.kind != .folder else { throw CommandError("`\(path)` is a folder; name a file in it") }
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | (acceptsPipe ? 0 : O_NONBLOCK))
            guard descriptor >= 0 else {
                throw CommandError("`\(path)` can't be opened; check that you may read it")
            }
            handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            guard acceptsPipe || FileIdentity(descriptor: descriptor)?.kind == .file else {
                throw CommandError("`\(path)` is a pipe or a device; name a regular file")
            }
        }
        defer { if path != "-" { try? handle.close() } }
        var bytes: [UInt8] = []
        while let chunk = try handle.read(upToCount: 1 << 20), !chunk.isEmpty {
            bytes += chunk
            guard bytes.count <= limit else {
                let maximum = limit < 1 << 20 ? "\(limit >> 10) KB" : "\(limit >> 20) MB"
                throw CommandError(
                    "`\(name)` is larger than \(maximum), which no valid file of this kind is; check the path")
            }
        }
        return bytes
    }
}
