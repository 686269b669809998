package import Foundation
package import TenureContent
package import TenurePolicyFile

#if canImport(CryptoKit)
    package import CryptoKit
#else
    package import Crypto
#endif

/// Publishes asset packs to a folder, which a web server, an S3-compatible bucket or the service can serve.
///
/// Clients always get either the old or the new catalog, and all files that this catalog names. If the process is
/// killed, the old catalog stays. The next publication uses or removes the files that were already written.
package struct ContentPublisher: Sendable {
    package let folder: ContentFolder
    private let key: P256.Signing.PrivateKey
    /// The public keys for the folder's current catalog: one of them must verify its signature.
    private let knownKeys: [PinnedKey]

    /// - Parameters:
    ///   - folder: the path of the folder to publish to.
    ///   - key: the key that signs the new catalog.
    ///   - previousKeys: other keys that may have signed the folder's current catalog.
    package init(folder: String, key: P256.Signing.PrivateKey, previousKeys: [PinnedKey] = []) {
        self.folder = ContentFolder(path: folder)
        self.key = key
        knownKeys = [PinnedKey(key.publicKey)] + previousKeys
    }

    /// The result of `publish`.
    package struct Publication: Sendable {
        /// The new catalog.
        package let catalog: SignedCatalog
        /// The published packs, in the order in which they were passed to `publish`.
        package let packs: [Pack]
        /// The names of packs that were in the previous catalog and aren't in the new catalog.
        package let droppedPacks: [String]

        /// A published pack.
        package struct Pack: Sendable {
            package let name: String
            package let version: ContentCatalog.Version
            package let manifest: PackManifest
            /// Whether the archive was written. False if the folder already had it.
            package let isNew: Bool
        }
    }

    /// Publishes a new version of each pack, and signs a new catalog.
    ///
    /// Packs that aren't in `packs` are removed from the catalog. A pack's versions for other values of
    /// `minimumAppVersion` are kept.
    ///
    /// - Parameters:
    ///   - counter: the counter of the new catalog, which must be higher than the previous catalog's counter. If nil,
    ///     the counter is the larger of two numbers: the seconds since 1970, and the previous counter plus one.
    ///   - now: when the catalog is signed.
    ///   - replacing: whether to ignore the existing catalog in the folder. Then the new catalog has only the versions
    ///     that are published now.
    ///   - progress: called with the number of bytes of files that were read since the last call.
    /// - Throws: `foreignCatalog` if the existing catalog can't be used, `counterTooLow`, `outputInPack`, and `locked`
    ///   if another command uses the folder. Also `invalidContent`, and the errors of reading and writing.
    package func publish(
        bundleID: String, packs sources: [PackSource], counter: Int64? = nil, at now: Date = Date(),
        replacing: Bool = false, progress: (Int) -> Void = { _ in }
    ) throws(PublishingError) -> Publication {
        for source in sources { try source.files.checkOutside(folder.path) }
        try folder.makeIfMissing()
        return try folder.locked { () throws(PublishingError) in
            try folder.removeUnfinished()
            let (previous, previousCounter) = try self.previous(of: bundleID, replacing: replacing)
            let counter = try Self.counter(counter, above: previousCounter, at: now)
            var packs: [ContentCatalog.Pack] = []
            var published: [Publication.Pack] = []
            for source in sources {
                let (manifest, isNew) = try publish(source.files, progress)
                let version = ContentCatalog.Version(of: manifest, minimumAppVersion: source.minimumAppVersion)
                published.append(.init(name: source.name, version: version, manifest: manifest, isNew: isNew))
                packs.append(
                    ContentCatalog.Pack(
                        name: source.name, unlock: source.unlock, isPurgeable: source.isPurgeable,
                        versions: Self.versions(previous?[source.name]?.versions ?? [], and: version)))
            }
            let catalog: SignedCatalog
            do throws(ContentError) {
                catalog = try SignedCatalog(
                    try ContentCatalog(bundleID: bundleID, packs: packs), counter: counter, issuedAt: now, by: key)
            } catch {
                throw .invalidContent(error)
            }
            try write(catalog)
            let dropped = previous?.packs.map(\.name).filter { catalog.catalog[$0] == nil } ?? []
            return Publication(catalog: catalog, packs: published, droppedPacks: dropped)
        }
    }

    // MARK: The previous catalog

    /// Returns the folder's current catalog, and its counter. The catalog is nil if the folder has none, or if
    /// `replacing` is true. The counter is 0 if the folder never had a catalog. Also removes catalogs that were
    /// never published.
    private func previous(
        of bundleID: String, replacing: Bool
    ) throws(PublishingError) -> (catalog: ContentCatalog?, counter: Int64) {
        let current = try folder.catalogText()
        guard let text = current, !replacing else {
            // Clients reject a catalog with a lower counter, so find the counter even of a catalog that is ignored. If
            // the catalog is missing or can't be read, the file names in `catalogs` have its counter.
            if let current, let counter = (try? SignedCatalog.unverified(current))?.counter { return (nil, counter) }
            return (nil, try folder.counters().max() ?? 0)
        }
        let signed: SignedCatalog
        do throws(ContentError) {
            signed = try SignedCatalog.verify(text, keys: knownKeys, bundleID: bundleID)
        } catch {
            throw .foreignCatalog(path: folder.catalogPath, error)
        }
        // Remove catalogs that were never published: a publication was killed after it wrote `catalogs/COUNTER.jws`,
        // and before it replaced `catalog.jws`.
        for counter in try folder.counters() where counter > signed.counter {
            unlink(folder.catalogPath(counter))
        }
        return (signed.catalog, signed.counter)
    }

    /// Returns the counter for the new catalog. Throws if the wanted counter isn't higher than the previous counter.
    private static func counter(
        _ wanted: Int64?, above previous: Int64, at now: Date
    ) throws(PublishingError) -> Int64 {
        // Limit the date, because a conversion of an extreme value to `Int64` would trap.
        guard let wanted else { return max(Int64(max(1, min(now.timeIntervalSince1970, 1e12))), previous + 1) }
        guard wanted > previous else { throw .counterTooLow(counter: wanted, previous: previous) }
        return wanted
    }

    /// Returns the versions of a pack: the new version, and previous versions for other values of `minimumAppVersion`.
    private static func versions(
        _ previous: [ContentCatalog.Version], and new: ContentCatalog.Version
    ) -> [ContentCatalog.Version] {
        // A version without `minimumAppVersion` comes first.
        (previous.filter { $0.minimumAppVersion != new.minimumAppVersion } + [new]).sorted { first, second in
            guard let minimum = second.minimumAppVersion else { return false }
            return first.minimumAppVersion.map { $0 < minimum } ?? true
        }
    }

    // MARK: Files

    /// Writes the archive and the manifest of a pack, unless the folder has these files already. In the result, `isNew`
    /// is true if the archive was written.
    private func publish(
        _ files: PackFiles, _ progress: (Int) -> Void
    ) throws(PublishingError) -> (manifest: PackManifest, isNew: Bool) {
        let (manifest, isNew) = try writeArchive(files, progress)
        let json = manifest.json
        let digest = ContentDigest(of: json)
        if !folder.has(digest, size: Int64(json.count)) {
            try NewFile.write(json, as: digest.description, in: folder.path)
        }
        return (manifest, isNew)
    }

    /// Writes the archive, unless the folder has it already.
    private func writeArchive(
        _ files: PackFiles, _ progress: (Int) -> Void
    ) throws(PublishingError) -> (manifest: PackManifest, isNew: Bool) {
        // A file of the same size in the folder is probably the same archive. So first compute only the archive's
        // digest, without writing a file.
        let size = files.archiveSize
        if try folder.objects().contains(where: { $0.size == size }) {
            let manifest = try files.manifest(progress: progress)
            if folder.has(manifest.archive, size: size) { return (manifest, false) }
        }
        let file = try NewFile(in: folder.path)
        let manifest = try files.manifest(progress: progress) { piece throws(PublishingError) in
            try file.write(piece.bytes)
        }
        try file.complete(as: manifest.archive.description)
        return (manifest, true)
    }

    /// Writes the catalog twice: under its counter, for `prune`, and then as the current catalog.
    private func write(_ catalog: SignedCatalog) throws(PublishingError) {
        // Flush all files that the catalog names before writing the catalog.
        try NewFile.synchronize(folder: folder.path)
        for name in ["\(ContentFolder.catalogs)/\(catalog.counter).jws", SignedCatalog.fileName] {
            try NewFile.write(catalog.text.utf8, as: name, in: folder.path)
            try NewFile.synchronize(folder: folder.catalogsPath)
        }
        try NewFile.synchronize(folder: folder.path)
    }
}
