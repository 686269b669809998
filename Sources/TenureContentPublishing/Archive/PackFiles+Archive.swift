import Foundation
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

    /// The size of the buffer in bytes. The size of a chunk (4 MiB of a file, with its own digest) is a multiple of
    /// this size, and each read fills the buffer unless the file ends. So the bytes that `FileHashes` gets at once
    /// don't cross the end of a chunk.
    private static let bufferSize = 1 << 20

    /// The size that the archive will have, in bytes: for each file a header and its contents, padded to a multiple of
    /// 512 bytes, and then two blocks of zeros.
    var archiveSize: Int64 { files.reduce(1024) { $0 + 512 + ($1.size + 511) / 512 * 512 } }

    /// Reads all files and returns the manifest.
    ///
    /// - Parameters:
    ///   - progress: called with the number of bytes of files that were read since the last call.
    ///   - use: called with all bytes of the archive, in order.
    /// - Throws: `changed` if a file changed after its folder was scanned.
    func manifest(
        progress: (Int) -> Void, _ use: (Piece) throws(PublishingError) -> Void = { _ in }
    ) throws(PublishingError) -> PackManifest {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
        defer { buffer.deallocate() }
        var archive = ContentHash()
        func emit(_ piece: Piece) throws(PublishingError) {
            archive.update(piece.bytes)
            try use(piece)
        }
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
            var read: Int64 = 0
            while true {
                let count = try file.read(into: buffer)
                if count == 0 { break }
                read += Int64(count)
                guard read <= source.size else { throw .changed(path: source.location) }
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                hashes.update(bytes)
                try emit(.contents(bytes))
                progress(count)
            }
            try file.checkUnchanged()
            guard read == source.size else { throw .changed(path: source.location) }
            let (digest, chunks) = hashes.digests
            entries.append(
                PackManifest.File(
                    path: source.path, offset: PackManifest.offset(after: entries.last), size: read, digest: digest,
                    chunks: chunks))
            // The next header begins at a multiple of 512 bytes.
            try pad(Int((512 - read % 512) % 512))
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

    /// The digest of the file, and the digest of each chunk in order.
    var digests: (file: ContentDigest, chunks: [ContentDigest]) {
        (whole.digest, chunks + (size % PackManifest.chunkSize == 0 ? [] : [chunk.digest]))
    }
}

/// The header of a file in a ustar archive (POSIX.1-1988): 512 bytes.
///
/// Only the path and the size depend on the file. The mode is always 644, and there is no owner and no time. So the
/// same files give the same bytes.
enum UstarHeader {
    /// The size of the header in bytes.
    static let size = 512

    /// Returns the header of a file. Nil if the path or the size doesn't fit.
    static func bytes(path: String, size: Int64) -> [UInt8]? {
        guard let fields = AssetPath.ustarFields(of: path), (0...PackManifest.maximumFileSize).contains(size) else {
            return nil
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        func add(_ text: String, width: Int) {
            bytes += text.utf8
            bytes += repeatElement(0, count: max(0, width - text.utf8.count))
        }
        add(fields.name, width: 100)
        add("0000644", width: 8)  // mode
        add("0000000", width: 8)  // user
        add("0000000", width: 8)  // group
        add(Self.octal(size, digits: 11), width: 12)
        add("00000000000", width: 12)  // time of modification
        // The checksum is computed with blanks in its own field.
        add("        ", width: Self.checksum.count)
        add("0", width: 1)  // a file
        add("", width: 100)  // target of a link
        add("ustar", width: 6)
        add("00", width: 2)  // version
        add("", width: 32)  // name of the user
        add("", width: 32)  // name of the group
        add("0000000", width: 8)  // device, major
        add("0000000", width: 8)  // device, minor
        add(fields.prefix, width: 155)
        add("", width: 12)
        let sum = bytes.reduce(Int64(0)) { $0 + Int64($1) }
        bytes.replaceSubrange(Self.checksum, with: Array(Self.octal(sum, digits: 6).utf8) + [0, UInt8(ascii: " ")])
        return bytes
    }

    /// The position of the checksum in the header.
    private static let checksum = 148..<156

    /// Returns the number in base 8, with zeros before it if it is shorter than `digits`.
    private static func octal(_ number: Int64, digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
