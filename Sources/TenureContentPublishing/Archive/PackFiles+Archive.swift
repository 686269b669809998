import TenureContent

/// Reads a pack's files to make its archive (a ustar file with all files of the pack) and its manifest. Each file is
/// read once, in pieces, so that memory doesn't limit the size of a pack.
extension PackFiles {
    /// A piece of the archive, with its bytes.
    enum Piece {
        /// The header of the file with this path in the pack. The file's contents follow in the next pieces.
        case header(path: String, UnsafeRawBufferPointer)
        /// The next bytes of a file's contents.
        case contents(UnsafeRawBufferPointer)
        /// Zeros after a file's contents, or at the end of the archive.
        case padding(UnsafeRawBufferPointer)

        var bytes: UnsafeRawBufferPointer {
            switch self {
            case .header(_, let bytes), .contents(let bytes), .padding(let bytes): bytes
            }
        }
    }

    /// The size of the buffer in bytes. A chunk (4 MiB of a file, with its own digest) is a multiple of this size. Each
    /// read fills the buffer, unless the file ends. So no read crosses the end of a chunk, as `FileHashes` requires.
    private static let bufferSize = 1 << 20

    /// The size that the archive will have, in bytes: for each file a header and its contents, padded to a multiple of
    /// 512 bytes, and then two blocks of zeros.
    var archiveSize: Int64 { files.reduce(1024) { $0 + 512 + ($1.size + 511) / 512 * 512 } }

    /// Reads all files and returns the manifest.
    ///
    /// - Parameters:
    ///   - progress: called with the number of bytes of files that were read since the last call.
    ///   - use: called with all bytes of the archive, in order.
    /// - Throws: `changed` if a file changed after its folder was scanned, and the errors of `use`. Also
    ///   `rejectedFiles` if a file doesn't fit into the archive, `unreadable`, and `invalidContent` if clients would
    ///   reject the manifest.
    func manifest(
        progress: (Int) -> Void, _ use: (Piece) throws(PublishingError) -> Void = { _ in }
    ) throws(PublishingError) -> PackManifest {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
        defer { buffer.deallocate() }
        var archive = ContentHash()
        // Passes a piece to `use`, and adds it to the archive's digest.
        func emit(_ piece: Piece) throws(PublishingError) {
            archive.update(piece.bytes)
            try use(piece)
        }
        // Passes on a number of zeros. Overwrites the buffer.
        func pad(_ count: Int) throws(PublishingError) {
            guard count > 0 else { return }
            let zeros = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            zeros.initializeMemory(as: UInt8.self, repeating: 0)
            try emit(.padding(UnsafeRawBufferPointer(zeros)))
        }
        var entries: [PackManifest.File] = []
        for source in files {
            guard let header = UstarHeader.bytes(path: source.path, size: source.size) else {
                throw .rejectedFiles([
                    "`\(source.path)` is too large or has a path that is too long for a ustar archive"
                ])
            }
            let file = try OpenFile(path: source.location)
            guard file.state == source.state else { throw .changed(path: source.location) }
            buffer.copyBytes(from: header)
            try emit(.header(path: source.path, UnsafeRawBufferPointer(rebasing: buffer[..<UstarHeader.size])))
            var hashes = FileHashes()
            var bytesRead: Int64 = 0
            while true {
                let count = try file.read(into: buffer)
                if count == 0 { break }
                bytesRead += Int64(count)
                guard bytesRead <= source.size else { throw .changed(path: source.location) }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                hashes.update(bytes)
                try emit(.contents(bytes))
                progress(count)
            }
            try file.checkUnchanged()
            guard bytesRead == source.size else { throw .changed(path: source.location) }
            let (digest, chunks) = hashes.digests
            entries.append(
                PackManifest.File(
                    path: source.path, offset: PackManifest.offset(after: entries.last), size: bytesRead,
                    digest: digest, chunks: chunks))
            // The next header begins at a multiple of 512 bytes.
            try pad(Int((512 - bytesRead % 512) % 512))
        }
        // The archive ends with two blocks of zeros.
        try pad(1024)
        do {
            return try PackManifest(
                files: entries, archive: archive.digest,
                archiveSize: PackManifest.archiveSize(endingWith: entries.last))
        } catch {
            throw .invalidContent(error)
        }
    }
}

/// Computes the digests of a file and of its chunks. The bytes of one `update` must not cross the end of a chunk.
private struct FileHashes {
    private var whole = ContentHash()
    private var chunk = ContentHash()
    private var chunks: [ContentDigest] = []
    private var size: Int64 = 0

    /// Adds the next bytes of the file.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        whole.update(bytes)
        chunk.update(bytes)
        size += Int64(bytes.count)
        guard size % PackManifest.chunkSize == 0 else { return }
        chunks.append(chunk.digest)
        chunk = ContentHash()
    }

    /// The digest of the file, and the digest of each chunk in order. The last chunk may be shorter than the others.
    var digests: (file: ContentDigest, chunks: [ContentDigest]) {
        (whole.digest, chunks + (size % PackManifest.chunkSize == 0 ? [] : [chunk.digest]))
    }
}
