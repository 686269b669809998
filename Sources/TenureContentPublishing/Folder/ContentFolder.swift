import Foundation
import TenureContent
import TenureFileAttributes

/// A folder to which asset packs are published. It has the signed catalog (the list of packs), all earlier catalogs,
/// and the manifest and archive of each pack version.
///
/// ```
/// catalog.jws             the current catalog, which is replaced last, in one step
/// catalogs/<counter>.jws  all catalogs (higher is newer), for `tenure content prune`
/// <sha256>                a manifest or an archive
/// ```
package struct ContentFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// The name of the folder with all catalogs.
    static let catalogs = "catalogs"
    /// The name of the file in `catalogs` that a command locks while it changes the folder.
    private static let lockName = ".lock"

    /// The path of the current catalog's file.
    var catalogPath: String { "\(path)/\(SignedCatalog.fileName)" }
    /// The path of the folder with all catalogs.
    var catalogsPath: String { "\(path)/\(Self.catalogs)" }

    /// Returns the path of the manifest or archive with this digest.
    func path(of digest: ContentDigest) -> String { "\(path)/\(digest)" }

    /// Creates the folder and its subfolder for catalogs.
    func makeIfMissing() throws(PublishingError) { try Folder.make(catalogsPath) }

    /// Runs a closure with a lock, so that no other command changes the folder meanwhile.
    ///
    /// - Throws: `locked` if another command has the lock.
    func locked<Result>(_ work: () throws(PublishingError) -> Result) throws(PublishingError) -> Result {
        try Folder.withLock(on: "\(catalogsPath)/\(Self.lockName)", flags: O_RDWR | O_CREAT, in: path, work)
    }

    // MARK: Manifests and archives

    /// A manifest or an archive.
    package struct Object: Sendable, Hashable {
        let digest: ContentDigest
        /// The size in bytes.
        package let size: Int64

        /// The name of the file, which is its digest.
        package var name: String { digest.description }
    }

    /// Returns the manifests and archives in the folder: all files with a digest as their name.
    func objects() throws(PublishingError) -> [Object] {
        try Folder.names(in: path).compactMap { name in
            guard let digest = name.flatMap({ ContentDigest($0) }), let state = FileState(path: self.path(of: digest)),
                state.kind == .file
            else { return nil }
            return Object(digest: digest, size: state.size)
        }
    }

    /// Whether the folder has a file of this size that really has the digest of its name.
    func has(_ digest: ContentDigest, size: Int64) -> Bool {
        guard FileState(path: path(of: digest))?.size == size else { return false }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var hash = ContentHash()
        do {
            let file = try OpenFile(path: path(of: digest))
            while true {
                let count = try file.read(into: buffer)
                if count == 0 { break }
                hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        } catch {
            // Then publishing writes the file again.
            return false
        }
        return hash.digest == digest
    }

    /// Removes unfinished files of earlier commands that were interrupted.
    func removeUnfinished() throws(PublishingError) {
        for case let name? in try Folder.names(in: path) where name.hasPrefix(NewFile.prefix) {
            guard unlink("\(path)/\(name)") == 0 || errno == ENOENT else { throw .writing("\(path)/\(name)") }
        }
    }

    // MARK: Catalogs

    /// Returns the signed text of the current catalog. Nil if the folder has no catalog.
    package func catalogText() throws(PublishingError) -> [UInt8]? {
        guard let state = FileState(path: catalogPath) else {
            guard errno == ENOENT || errno == ENOTDIR else { throw .reading(catalogPath) }
            return nil
        }
        guard state.kind == .file else { throw .unreadable(path: catalogPath, reason: "not a file") }
        return try text(at: catalogPath)
    }

    /// Reads a catalog without checking its signature.
    ///
    /// - Throws: `damagedCatalog` if the file isn't a catalog.
    func contents(ofCatalogAt path: String) throws(PublishingError) -> SignedCatalog {
        let text = try text(at: path)
        do {
            return try SignedCatalog.unverified(text)
        } catch {
            throw .damagedCatalog(path: path, error)
        }
    }

    /// Returns the counters of all catalogs in the subfolder `catalogs`, in ascending order.
    func counters() throws(PublishingError) -> [Int64] {
        guard FileState(path: catalogsPath) != nil else { return [] }
        return try Folder.names(in: catalogsPath).compactMap { name in
            // The comparison at the end excludes other spellings of a number, such as `007.jws`.
            guard let name, name.hasSuffix(".jws"), let counter = Int64(name.dropLast(4)), counter > 0,
                "\(counter).jws" == name
            else { return nil }
            return counter
        }.sorted()
    }

    /// Returns the path of the catalog with this counter in the subfolder `catalogs`.
    func catalogPath(_ counter: Int64) -> String { "\(catalogsPath)/\(counter).jws" }

    /// Reads a catalog's file: at most one byte more than a catalog may have, so that a larger file is rejected.
    private func text(at path: String) throws(PublishingError) -> [UInt8] {
        try OpenFile(path: path).bytes(SignedCatalog.maximumTextSize + 1, at: 0)
    }
}
