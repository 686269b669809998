import TenureContent

/// A catalog's entry for one version of a pack, stored with the version's files. The client uses the stored entry if
/// the catalog has a newer version, and if the catalog is lost.
struct PackDescription: Codable, Sendable, Hashable {
    let name: String
    let entitlement: String?
    let product: String?
    let isPurgeable: Bool
    /// Digests, as 64 hexadecimal digits.
    let manifest: String
    let archive: String
    let manifestSize: Int
    let archiveSize: Int64
    let installedSize: Int64
    /// The identifier of the content source.
    let source: String

    init(_ pack: ContentCatalog.Pack, _ version: ContentCatalog.Version, from source: String) {
        name = pack.name
        switch pack.unlock {
        case .entitlement(let name): (entitlement, product) = (name, nil)
        case .product(let id): (entitlement, product) = (nil, id)
        }
        isPurgeable = pack.isPurgeable
        manifest = version.manifest.description
        archive = version.archive.description
        manifestSize = version.manifestSize
        archiveSize = version.archiveSize
        installedSize = version.installedSize
        self.source = source
    }

    var unlock: ContentCatalog.Unlock? { ContentCatalog.Unlock(entitlement: entitlement, product: product) }

    /// The version. Nil if `manifest` or `archive` isn't a digest.
    var version: ContentCatalog.Version? {
        guard let manifest = ContentDigest(manifest), let archive = ContentDigest(archive) else { return nil }
        return ContentCatalog.Version(
            minimumAppVersion: nil, manifest: manifest, manifestSize: manifestSize, archive: archive,
            archiveSize: archiveSize, installedSize: installedSize)
    }

    /// The pack with this version only.
    var pack: ContentCatalog.Pack? {
        guard let unlock, let version else { return nil }
        return ContentCatalog.Pack(name: name, unlock: unlock, isPurgeable: isPurgeable, versions: [version])
    }
}
