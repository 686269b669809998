import Foundation
import TenureContent
import TenureFiles

/// Files on the device with contents that a new version of a pack also has, so that they aren't downloaded again. Their
/// names may differ.
struct ReusableFiles {
    /// The files of installed versions, and of an older version that was only partly downloaded when the download of a
    /// newer version began (`PartialPack.setAside`), by their contents.
    private var paths: [Content: [(pack: InstalledPack, file: PackManifest.File)]] = [:]
    /// The pack in the app's bundle, which has no digests.
    private let embedded: EmbeddedPack?
    /// The sizes of the files in the app's bundle, by path.
    private let embeddedSizes: [String: Int64]
    /// The files of the partly downloaded older version. Their ends may be missing.
    private let beginnings: [ContentDigest: String]

    /// The digest and size of a file. Files with the same digest and size are equal.
    private struct Content: Hashable {
        let digest: ContentDigest
        let size: Int64
    }

    /// - Parameters:
    ///   - packs: the installed versions.
    ///   - embedded: the pack in the app's bundle.
    ///   - setAside: the partly downloaded older version, if any.
    init(_ packs: [InstalledPack], embedded: EmbeddedPack? = nil, setAside: InstalledPack? = nil) {
        for pack in packs + [setAside].compactMap(\.self) {
            for file in pack.manifest.files {
                paths[Content(digest: file.digest, size: file.size), default: []].append((pack, file))
            }
        }
        let begun = setAside.map { pack in pack.manifest.files.map { ($0.digest, pack.path(of: $0)) } } ?? []
        beginnings = Dictionary(begun) { first, _ in first }
        self.embedded = embedded
        embeddedSizes = Dictionary(embedded?.pack.files.map { ($0.path, $0.size) } ?? []) { first, _ in first }
    }

    /// Links or copies a file with the same contents to a path, if the device has such a file. The contents are
    /// verified first, so that a damaged file isn't reused. Returns whether there is now a file at the path.
    func put(_ file: PackManifest.File, at path: String) throws -> Bool {
        let candidates = paths[Content(digest: file.digest, size: file.size)] ?? []
        if let intact = candidates.first(where: { $0.pack.isIntact($0.file) }) {
            try Disk.makeFolder((path as NSString).deletingLastPathComponent)
            let source = intact.pack.path(of: intact.file)
            if (try? Disk.addLink(source, as: path)) != nil { return true }
            return try copy(source, to: path)
        }
        guard let embedded, embeddedSizes[file.path] == file.size else { return false }
        let source = embedded.path + "/" + file.path
        guard file.hasContents(at: source) else { return false }
        try Disk.makeFolder((path as NSString).deletingLastPathComponent)
        return try copy(source, to: path)
    }

    /// Moves the downloaded part of a file to a path. Its chunks are compared with their digests before the
    /// installation.
    func putBeginning(of file: PackManifest.File, at path: String) throws {
        // A file with several hard links is also part of another version. Continuing its download would change that
        // version.
        guard let beginning = beginnings[file.digest], let status = FileStatus(path: beginning),
            status.size <= file.size, status.linkCount == 1
        else { return }
        try Disk.makeFolder((path as NSString).deletingLastPathComponent)
        try Disk.move(beginning, to: path)
    }

    /// Copies a file. Throws only if the disk is full. After any other failure, it returns false, and the file is
    /// downloaded.
    private func copy(_ source: String, to path: String) throws -> Bool {
        do {
            try FileManager.default.copyItem(atPath: source, toPath: path)
            return true
        } catch CocoaError.fileWriteOutOfSpace {
            throw DiskFailure.full
        } catch {
            Disk.remove(path)
            return false
        }
    }
}

extension PackManifest.File {
    /// Whether a file has the contents that the manifest describes.
    func hasContents(at path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        var hash = ContentHash()
        guard FileStatus(path: path)?.size == size,
            (try? Disk.read(0..<size, of: descriptor, path) { hash.update($0) }) == true
        else { return false }
        return hash.digest == digest
    }
}
