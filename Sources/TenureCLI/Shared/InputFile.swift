import Foundation
import TenureAppStore
import TenureCore
import TenureFileAttributes

/// A file that a command reads; `-` is standard input.
struct InputFile {
    let path: String

    /// The name in messages.
    var name: String { path == "-" ? "standard input" : path }

    /// Reads the whole file. Throws if the file can't be read, or is larger than `limit` bytes.
    ///
    /// - Parameter acceptsPipe: whether the path may name a pipe. A pipe can be read only once, and opening it waits
    ///   for a writer. Standard input is always accepted.
    func bytes(limit: Int = AppStoreArtifact.maximumSize, acceptsPipe: Bool = true) throws -> [UInt8] {
        let handle: FileHandle
        if path == "-" {
            handle = .standardInput
        } else {
            guard let identity = FileIdentity(path: path) else { throw Self.missing(path) }
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

    /// The error about a path without a file. If the path is an artifact itself, the error shows only its beginning.
    private static func missing(_ path: String) -> CommandError {
        guard AppStoreArtifact.isProbable(inPlaceOfPath: path) else {
            return CommandError("there is no file `\(path)`; check the path")
        }
        return CommandError(
            "`\(path.prefix(20))…` is an artifact, and not the path of a file; write it to a file and pass the path, or pass - and send it to standard input"
        )
    }

    /// Reads the artifacts in the file. In a file with one JWS per line, each line is an artifact, and its name has the
    /// number of the line. Such a file may have blank lines, and lines with a damaged JWS. Any other file is one
    /// artifact.
    func artifacts() throws -> [(name: String, bytes: [UInt8])] {
        let bytes = try bytes()
        // A JWS begins with `{"` in Base64. Receipts and JSON begin differently.
        guard bytes[...].trimmingASCIIWhitespace.starts(with: "ey".utf8) else { return [(name, bytes)] }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map(\.trimmingASCIIWhitespace).enumerated().filter { !$0.element.isEmpty }
        // A JWS may be wrapped: then no line has all three parts.
        let hasWholeJWS = lines.contains { line in
            line.element.starts(with: "ey".utf8) && line.element.count(where: { $0 == UInt8(ascii: ".") }) == 2
        }
        guard lines.count > 1, hasWholeJWS else { return [(name, bytes)] }
        return lines.map { ("\(name):\($0.offset + 1)", Array($0.element)) }
    }
}
