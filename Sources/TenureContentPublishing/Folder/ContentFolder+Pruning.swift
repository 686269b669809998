package import Foundation
import TenureContent
import TenureFileAttributes

/// The result of `ContentFolder.prune`: which files it removed or would remove, and how many it keeps.
package struct ContentPruning: Sendable {
    /// The manifests and archives that were in no catalog of the last 30 days.
    package let removed: [ContentFolder.Object]
    /// The number of manifests and archives that were kept.
    package let kept: Int

    /// The size of all removed files in bytes.
    package var removedSize: Int64 { removed.reduce(0) { $0 + $1.size } }

    /// How long a manifest or an archive is kept in seconds, counted from when the last catalog that names it was
    /// replaced.
    static let retention: TimeInterval = 30 * 86_400
}

/// Removes files that no recent catalog names, for `tenure content prune`.
extension ContentFolder {
    /// Removes each manifest and archive that no catalog of the last 30 days names. These catalogs are the current one,
    /// and each one that was replaced in this time.
    ///
    /// - Parameter removing: pass false to find these files without removing them.
    /// - Throws: `notPublished` if the folder has no catalog, and `locked` if another command uses the folder. Also
    ///   `damagedCatalog` if a catalog can't be read, because then it isn't known which files it names.
    package func prune(at now: Date = Date(), removing: Bool = true) throws(PublishingError) -> ContentPruning {
        guard FileState(path: catalogPath)?.kind == .file else { throw .notPublished(folder: path) }
        try makeIfMissing()
        return try locked { () throws(PublishingError) in
            let named = try digests(since: now.addingTimeInterval(-ContentPruning.retention))
            let all = try objects()
            let removed = all.filter { !named.contains($0.digest) }
            for object in removed where removing {
                let file = path(of: object.digest)
                guard unlink(file) == 0 || errno == ENOENT else { throw .writing(file) }
            }
            return ContentPruning(removed: removed, kept: all.count - removed.count)
        }
    }

    /// Returns the digests in all catalogs that were current at any time since `start`.
    private func digests(since start: Date) throws(PublishingError) -> Set<ContentDigest> {
        let current = try contents(ofCatalogAt: catalogPath)
        var digests = Self.digests(in: current.catalog)
        var next = (issuedAt: current.issuedAt, end: Date.distantFuture)
        // Go from the newest catalog to the oldest. Skip catalogs with a higher counter than the current catalog: they
        // were never published.
        for counter in try counters().reversed() where counter < current.counter {
            let catalog = try contents(ofCatalogAt: catalogPath(counter))
            // A catalog was current until the next catalog was issued. A wrong clock may have put the dates in the
            // wrong order. Then treat the catalog as current for as long as the next one.
            let end = next.issuedAt >= catalog.issuedAt ? next.issuedAt : next.end
            if end > start { digests.formUnion(Self.digests(in: catalog.catalog)) }
            next = (catalog.issuedAt, end)
        }
        return digests
    }

    private static func digests(in catalog: ContentCatalog) -> Set<ContentDigest> {
        Set(catalog.packs.flatMap(\.versions).flatMap { [$0.manifest, $0.archive] })
    }
}
