package import Foundation
import TenureCore
import TenureJSON

/// The files of one version of an asset pack (a group of files that a purchase unlocks): the digest that each file must
/// have, and its position in the pack's archive.
///
/// The JSON is canonical: the same files give the same bytes. A published manifest is named by the digest of these
/// bytes.
///
/// ```json
/// {"format":1,"archive":{"sha256":"…","size":3584},"files":[
///   {"path":"samples/c4.wav","offset":512,"size":1900,"sha256":"…"},
///   {"path":"samples/c5.wav","offset":…,"size":5000000,"sha256":"…","chunks":["…","…"]}]}
/// ```
///
/// The archive is an uncompressed ustar file: a header of 512 bytes for each file in order, its contents, zeros up to
/// the next multiple of 512, and 1,024 zeros at the end.
package struct PackManifest: Sendable, Hashable {
    /// A file of the pack.
    package struct File: Sendable, Hashable {
        /// The path relative to the pack's folder. `AssetPath` has the rules for paths.
        package let path: String
        /// The offset of the file's contents in the archive, in bytes.
        package let offset: Int64
        /// The size in bytes.
        package let size: Int64
        /// The digest of the whole file.
        package let digest: ContentDigest
        /// The digest of each chunk of 4 MiB. The last chunk may be shorter. If there is only one chunk, its digest is
        /// the file's digest. An empty file has no chunks.
        package let chunks: [ContentDigest]

        package init(path: String, offset: Int64, size: Int64, digest: ContentDigest, chunks: [ContentDigest]) {
            self.path = path
            self.offset = offset
            self.size = size
            self.digest = digest
            self.chunks = chunks
        }

        /// Returns the bytes of the file that belong to the chunk with this index.
        package func range(ofChunk index: Int) -> Range<Int64> {
            let start = Int64(index) * PackManifest.chunkSize
            return start..<min(size, start + PackManifest.chunkSize)
        }
    }

    /// The digest of the archive, which is also its file name.
    package let archive: ContentDigest
    /// The size of the archive in bytes.
    package let archiveSize: Int64
    /// The files, in the order of the archive.
    package let files: [File]

    /// The size of a chunk in bytes: 4 MiB.
    package static let chunkSize: Int64 = 4 << 20
    /// The maximum number of files of a pack.
    package static let maximumFiles = 10_000
    /// The maximum size of all files of a pack together, in bytes.
    package static let maximumPackSize: Int64 = 64_000_000_000
    /// The maximum size of an archive in bytes: the largest pack, with a header and padding for each of `maximumFiles`
    /// files.
    static let maximumArchiveSize = maximumPackSize + Int64(maximumFiles) * 1024 + 1024
    /// The maximum size of a file in bytes. ustar's size field has eleven octal digits.
    package static let maximumFileSize: Int64 = (8 << 30) - 1
    /// The maximum size of a manifest in bytes. 10,000 files with the longest paths and 16,000 chunks need less.
    package static let maximumTextSize = 8 << 20

    /// The size of all files in bytes.
    package var installedSize: Int64 { files.reduce(0) { $0 + $1.size } }

    /// - Parameter files: the files in the order of the archive, each at the offset that `offset(after:)` returns.
    /// - Throws: `invalidManifest` if clients would reject the manifest.
    package init(files: [File], archive: ContentDigest, archiveSize: Int64) throws(ContentError) {
        guard files.count <= Self.maximumFiles else {
            throw .invalidManifest("it has \(files.count) files; a pack has at most \(Self.maximumFiles)")
        }
        var end: Int64 = 0
        var total: Int64 = 0
        for file in files {
            if let mistake = Self.mistake(inFile: file.path, size: file.size) { throw .invalidManifest(mistake) }
            total += file.size
            guard total <= Self.maximumPackSize else { throw .invalidManifest("its files have more than 64 GB") }
            guard file.offset == end + Self.blockSize else {
                throw .invalidManifest(
                    "`\(file.path)` has the wrong `offset`; it must follow the file before it in the archive")
            }
            guard file.chunks.count == Int((file.size + Self.chunkSize - 1) / Self.chunkSize),
                file.chunks.count != 1 || file.chunks[0] == file.digest
            else { throw .invalidManifest("`\(file.path)` has `chunks` that don't match its `size` or its `sha256`") }
            end = Self.end(ofFileAt: file.offset, size: file.size)
        }
        guard archiveSize == end + Self.endSize else {
            throw .invalidManifest("the size of the archive doesn't match the sizes of its files")
        }
        if let (first, second) = AssetPath.conflict(among: files.lazy.map(\.path)) {
            throw .invalidManifest("`\(first)` and `\(second)` can't both exist on every file system")
        }
        self.files = files
        self.archive = archive
        self.archiveSize = archiveSize
    }

    /// Returns what is wrong with the path or the size of a file. Nil if both are valid.
    static func mistake(inFile path: String, size: Int64) -> String? {
        if let mistake = AssetPath.mistake(in: path) { return "the path `\(path.escapedForDisplay)` \(mistake)" }
        guard !(0...maximumFileSize).contains(size) else { return nil }
        return "`\(path)` has a `size` of \(size); a file has 0 to \(maximumFileSize) bytes"
    }

    /// The size of a ustar block in bytes. A header takes one block, and contents are padded to whole blocks.
    private static let blockSize: Int64 = 512
    /// The size of the archive's end: two blocks of zeros.
    private static let endSize: Int64 = 1024

    /// Returns the offset of a file's contents in the archive.
    ///
    /// - Parameter previous: the file before it in the archive. Nil for the first file.
    package static func offset(after previous: File?) -> Int64 {
        (previous.map { end(ofFileAt: $0.offset, size: $0.size) } ?? 0) + blockSize
    }

    /// Returns the size of an archive that ends with this file, in bytes. Nil is an archive without files.
    package static func archiveSize(endingWith last: File?) -> Int64 {
        (last.map { end(ofFileAt: $0.offset, size: $0.size) } ?? 0) + endSize
    }

    /// Returns the offset of the first block after a file's contents.
    private static func end(ofFileAt offset: Int64, size: Int64) -> Int64 {
        offset + (size + blockSize - 1) / blockSize * blockSize
    }
}

// MARK: JSON

extension PackManifest {
    /// Reads an untrusted manifest.
    ///
    /// - Throws: `invalidManifest` if the JSON can't be read, has another `format` than 1, or breaks a rule for
    ///   manifests. Unknown fields are ignored.
    package init(json: Data) throws(ContentError) {
        guard json.count <= Self.maximumTextSize else {
            throw .invalidManifest("it has \(json.count) bytes; a manifest has at most \(Self.maximumTextSize)")
        }
        let text: Text
        do {
            text = try JSONDecoder().decode(Text.self, from: json)
        } catch {
            throw .invalidManifest("it can't be read")
        }
        guard text.format == 1 else {
            throw .invalidManifest("its format is \(text.format), but this version of Tenure reads only format 1")
        }
        let files = text.files.map { file in
            File(
                path: file.path, offset: file.offset, size: file.size, digest: file.sha256,
                chunks: file.chunks ?? (file.size == 0 ? [] : [file.sha256]))
        }
        try self.init(files: files, archive: text.archive.sha256, archiveSize: text.archive.size)
    }

    /// The manifest as canonical JSON.
    package var json: Data {
        let json = JSONWriter.object(capacity: 1024 + files.count * 256) { json in
            json.field("format", 1)
            json.object("archive") { json in
                json.field("sha256", archive)
                json.field("size", archiveSize)
            }
            json.objects("files", files) { json, file in
                json.field("path", file.path)
                json.field("offset", file.offset)
                json.field("size", file.size)
                json.field("sha256", file.digest)
                guard file.chunks.count > 1 else { return }
                json.field("chunks", file.chunks) { $0.value($1.description) }
            }
        }
        return Data(json)
    }

    /// The manifest's JSON before it is checked.
    private struct Text: Decodable {
        let format: Int
        let archive: Archive
        let files: [Entry]

        struct Archive: Decodable {
            let sha256: ContentDigest
            let size: Int64
        }

        struct Entry: Decodable {
            let path: String
            let offset: Int64
            let size: Int64
            let sha256: ContentDigest
            let chunks: [ContentDigest]?
        }
    }
}
