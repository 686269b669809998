package import Foundation
import TenureContent
import TenureFileAttributes

/// What `prune` removes from a published folder, and what it keeps.
package struct ContentPruning: Sendable {
    package struct Object: Sendable, Hashable {
        /// The digest that is its name.
        package let name: String
        /// In bytes.
        package let size: Int64
    }

    /// Manifests and archives that no catalog of the time named.
    package let removed: [Object]
    package let kept: Int

    /// In bytes.
    package var removedSize: Int64 { removed.reduce(0) { $0 + $1.size } }

    /// How long a manifest or an archive stays after the last catalog that named it.
    static let time: TimeInterval = 30 * 86_400
}

extension ContentFolder {
    /// Removes manifests and archives that no catalog of the last 30 days named. A catalog counts until the next one was
    /// issued, and the current one always.
    ///
    /// - Parameter removing: false only finds them.
    /// - Throws: `foreignCatalog` if a catalog can't be read: it may name any file.
    package func prune(at now: Date = Date(), removing: Bool = true) throws(PublishingError) -> ContentPruning {
        guard FileState(path: catalogPath)?.kind == .file else { throw .notPublished(folder: path) }
        try makeIfMissing()
        return try locked { () throws(PublishingError) in
            let named = try digests(since: now.addingTimeInterval(-ContentPruning.time))
            var removed: [ContentPruning.Object] = []
            var kept = 0
            for object in try objects() {
                if named.contains(object.digest) {
                    kept += 1
                    continue
                }
                if removing, unlink(path(of: object.digest)) != 0, errno != ENOENT {
                    throw .writing(path(of: object.digest))
                }
                removed.append(.init(name: object.digest.description, size: object.size))
            }
            return ContentPruning(removed: removed, kept: kept)
        }
    }

    /// What the catalogs named that were current at some time since then.
    private func digests(since start: Date) throws(PublishingError) -> Set<ContentDigest> {
        let current = try contents(ofCatalogAt: catalogPath)
        var digests = Self.digests(in: current.catalog)
        var next = (issuedAt: current.issuedAt, end: Date.distantFuture)
        // From the newest to the oldest. A catalog with a higher counter than the current one was never seen by a client.
        for counter in try counters().reversed() where counter < current.counter {
            let catalog = try contents(ofCatalogAt: catalogPath(counter))
            // It was current until the next one was issued. If a clock was wrong then, it counts as long as that one.
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
