import TenureContent

/// What a content catalog says about one version of a pack, stored with the version's files. The client uses this copy
/// if the catalog has a newer version by now, and if the catalog is lost.
struct PackDescription: Codable, Sendable, Hashable {
    let name: String
    /// The entitlement that unlocks the pack; nil if `product` does.
    let entitlement: String?
    /// The ID of the product that unlocks the pack; nil if `entitlement` does.
    let product: String?
    /// Whether the system may delete the files.
    let isPurgeable: Bool
    /// The digest of the version's manifest (its list of files), as 64 hexadecimal digits.
    let manifest: String
    /// The digest of the version's archive (one file with all its files), as 64 hexadecimal digits.
    let archive: String
    // The sizes in bytes.
    let manifestSize: Int
    let archiveSize: Int64
    let installedSize: Int64
    /// The identifier of the content source that delivered the version.
    let source: String
}

extension PackDescription {
    init(_ pack: ContentCatalog.Pack, _ version: ContentCatalog.Version, from source: String) {
        let (entitlement, product): (String?, String?) =
            switch pack.unlock {
            case .entitlement(let name): (name, nil)
            case .product(let id): (nil, id)
            }
        self.init(
            name: pack.name, entitlement: entitlement, product: product, isPurgeable: pack.isPurgeable,
            manifest: version.manifest.description, archive: version.archive.description,
            manifestSize: version.manifestSize, archiveSize: version.archiveSize, installedSize: version.installedSize,
            source: source)
    }

    /// What unlocks the pack. Nil if the stored description has neither an entitlement nor a product.
    var unlock: ContentCatalog.Unlock? { ContentCatalog.Unlock(entitlement: entitlement, product: product) }

    /// The version as in a catalog. Nil if `manifest` or `archive` isn't a digest.
    var version: ContentCatalog.Version? {
        guard let manifest = ContentDigest(manifest), let archive = ContentDigest(archive) else { return nil }
        return ContentCatalog.Version(
            minimumAppVersion: nil, manifest: manifest, manifestSize: manifestSize, archive: archive,
            archiveSize: archiveSize, installedSize: installedSize)
    }

    /// The pack as in a catalog, with this version only. Nil if the description is invalid.
    var pack: ContentCatalog.Pack? {
        guard let unlock, let version else { return nil }
        return ContentCatalog.Pack(name: name, unlock: unlock, isPurgeable: isPurgeable, versions: [version])
    }
}
