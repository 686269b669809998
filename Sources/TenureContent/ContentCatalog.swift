package import TenureCore
package import TenureJSON

/// The asset packs of an app: what unlocks each pack, and the pack's newest version for each version of the app.
///
/// An asset pack is a group of files that a purchase unlocks and that are published and downloaded together.
package struct ContentCatalog: Sendable, Hashable {
    /// What a customer must have to download and open a pack.
    package enum Unlock: Sendable, Hashable {
        /// An entitlement of the policy.
        case entitlement(String)
        /// A purchase of the product. It is treated like an entitlement that only this product grants.
        case product(String)
    }

    /// A version of a pack. It consists of two published files, each named by its digest: the manifest
    /// (`PackManifest`), which lists the pack's files, and the archive, which contains them.
    package struct Version: Sendable, Hashable {
        /// The lowest `CFBundleShortVersionString` of apps that can use this version. Nil if every app can use it.
        package let minimumAppVersion: AppVersion?
        /// The digest of the manifest.
        package let manifest: ContentDigest
        /// The size of the manifest in bytes.
        package let manifestSize: Int
        /// The digest of the archive.
        package let archive: ContentDigest
        /// The size of the archive in bytes, which a complete download transfers.
        package let archiveSize: Int64
        /// The size of all files in bytes, which an installation occupies.
        package let installedSize: Int64

        package init(
            minimumAppVersion: AppVersion?, manifest: ContentDigest, manifestSize: Int, archive: ContentDigest,
            archiveSize: Int64, installedSize: Int64
        ) {
            self.minimumAppVersion = minimumAppVersion
            self.manifest = manifest
            self.manifestSize = manifestSize
            self.archive = archive
            self.archiveSize = archiveSize
            self.installedSize = installedSize
        }

        /// Creates the version that a manifest describes.
        package init(of manifest: PackManifest, minimumAppVersion: AppVersion?) {
            let json = manifest.json
            self.init(
                minimumAppVersion: minimumAppVersion, manifest: ContentDigest(of: json), manifestSize: json.count,
                archive: manifest.archive, archiveSize: manifest.archiveSize, installedSize: manifest.installedSize)
        }
    }

    /// An asset pack.
    package struct Pack: Sendable, Hashable {
        /// The name, unique in the app: 1 to 64 of the characters a–z, 0–9 and `-`.
        package let name: String
        /// What a customer must have to download and open the pack.
        package let unlock: Unlock
        /// Whether the system may delete an installed pack to free space.
        package let isPurgeable: Bool
        /// The newest version for each `minimumAppVersion`, the lowest first. Never empty.
        package let versions: [Version]

        package init(name: String, unlock: Unlock, isPurgeable: Bool, versions: [Version]) {
            self.name = name
            self.unlock = unlock
            self.isPurgeable = isPurgeable
            self.versions = versions
        }

        /// Returns the version with the highest `minimumAppVersion` that the app can use.
        ///
        /// Returns nil if the app is too old for all versions of the pack.
        ///
        /// - Parameter appVersion: the app's `CFBundleShortVersionString`. Nil if it is missing or unreadable: then
        ///   only a version without `minimumAppVersion` is returned.
        package func version(for appVersion: AppVersion?) -> Version? {
            versions.last { version in
                guard let minimum = version.minimumAppVersion else { return true }
                return appVersion.map { minimum <= $0 } ?? false
            }
        }
    }

    /// The bundle ID of the app.
    package let bundleID: String
    /// The packs, sorted by name.
    package let packs: [Pack]

    /// The maximum number of packs of one app.
    package static let maximumPacks = 100
    /// The maximum number of versions of one pack.
    private static let maximumVersions = 100

    /// - Throws: `invalidCatalog` if clients would reject the catalog, for example because two packs have the same
    ///   name.
    package init(bundleID: String, packs: [Pack]) throws(ContentError) {
        guard !bundleID.isEmpty else { throw .invalidCatalog("its bundle ID is empty") }
        guard packs.count <= Self.maximumPacks else {
            throw .invalidCatalog("it has \(packs.count) packs; an app has at most \(Self.maximumPacks)")
        }
        for pack in packs {
            guard Self.isName(pack.name) else {
                throw .invalidCatalog(
                    "`\(pack.name.escapedForDisplay)` isn't a valid name of a pack: 1 to 64 of the characters a–z, 0–9 and `-`"
                )
            }
            guard !pack.versions.isEmpty, pack.versions.count <= Self.maximumVersions else {
                throw .invalidCatalog("`\(pack.name)` must have 1 to \(Self.maximumVersions) versions")
            }
            // Only the first version may have no `minimumAppVersion`.
            for (earlier, later) in zip(pack.versions, pack.versions.dropFirst()) {
                guard let minimum = later.minimumAppVersion, earlier.minimumAppVersion.map({ $0 < minimum }) ?? true
                else { throw .invalidCatalog("the versions of `\(pack.name)` aren't in order of `minimumAppVersion`") }
            }
            for version in pack.versions {
                guard (1...PackManifest.maximumTextSize).contains(version.manifestSize),
                    (0...PackManifest.maximumPackSize).contains(version.installedSize),
                    (version.installedSize...PackManifest.maximumArchiveSize).contains(version.archiveSize)
                else {
                    throw .invalidCatalog(
                        "`\(pack.name)` has a `manifestSize`, `installedSize` or `archiveSize` that is out of range")
                }
            }
        }
        let sorted = packs.sorted { $0.name < $1.name }
        if let (first, _) = zip(sorted, sorted.dropFirst()).first(where: { $0.name == $1.name }) {
            throw .invalidCatalog("it has two packs named `\(first.name)`")
        }
        self.bundleID = bundleID
        self.packs = sorted
    }

    /// Returns the pack with this name. Nil if no pack has it.
    package subscript(_ name: String) -> Pack? { packs.first { $0.name == name } }

    /// Whether a string can name a pack: `[a-z0-9-]{1,64}`.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            }
    }
}

// MARK: JSON

extension ContentCatalog {
    /// Writes the fields that the catalog has in the payload of a `SignedCatalog`: `bundleID` and `packs`.
    func write(to json: inout JSONWriter) {
        json.field("bundleID", bundleID)
        json.object("packs") { json in
            for pack in packs {
                json.object(pack.name) { json in
                    pack.unlock.write(to: &json)
                    if pack.isPurgeable { json.field("storage", Text.purgeable) }
                    json.objects("versions", pack.versions) { json, version in
                        json.field("minimumAppVersion", ifPresent: version.minimumAppVersion?.description)
                        json.field("manifest", version.manifest)
                        json.field("manifestSize", version.manifestSize)
                        json.field("archive", version.archive)
                        json.field("archiveSize", version.archiveSize)
                        json.field("installedSize", version.installedSize)
                    }
                }
            }
        }
    }

    /// Creates the catalog from decoded JSON. Throws `invalidCatalog` if a field is invalid.
    init(_ text: Text) throws(ContentError) {
        var packs: [Pack] = []
        for (name, pack) in text.packs { packs.append(try Pack(pack, named: name)) }
        try self.init(bundleID: text.bundleID, packs: packs)
    }

    /// The fields that `write(to:)` writes, decoded but not yet checked.
    struct Text: Decodable {
        let bundleID: String
        let packs: [String: Pack]

        struct Pack: Decodable {
            let entitlement: String?
            let product: String?
            let storage: String?
            let versions: [Version]
        }

        struct Version: Decodable {
            let minimumAppVersion: String?
            let manifest: ContentDigest
            let manifestSize: Int
            let archive: ContentDigest
            let archiveSize: Int64
            let installedSize: Int64
        }

        /// The only value of the field `storage`.
        static let purgeable = "purgeable"
    }
}

extension ContentCatalog.Unlock {
    /// Creates the value from two JSON fields. Nil unless exactly one of the two fields has a value.
    package init?(entitlement: String?, product: String?) {
        switch (entitlement, product) {
        case (let entitlement?, nil): self = .entitlement(entitlement)
        case (nil, let product?): self = .product(product)
        default: return nil
        }
    }

    /// Writes the field `entitlement` or the field `product`.
    package func write(to json: inout JSONWriter) {
        switch self {
        case .entitlement(let name): json.field("entitlement", name)
        case .product(let id): json.field("product", id)
        }
    }
}

extension ContentCatalog.Pack {
    /// Reads a pack of the catalog. Throws `invalidCatalog` if one of its fields is invalid.
    fileprivate init(_ text: ContentCatalog.Text.Pack, named name: String) throws(ContentError) {
        func invalid(_ reason: String) -> ContentError {
            .invalidCatalog("the pack `\(name.escapedForDisplay)` \(reason)")
        }
        guard let unlock = ContentCatalog.Unlock(entitlement: text.entitlement, product: text.product) else {
            throw invalid("must have either `entitlement` or `product`")
        }
        guard text.storage == nil || text.storage == ContentCatalog.Text.purgeable else {
            throw invalid("has an unknown value of `storage`; this version of Tenure reads only `purgeable`")
        }
        var versions: [ContentCatalog.Version] = []
        for version in text.versions {
            let minimum = version.minimumAppVersion.map { AppVersion($0) }
            // The outer optional is nil if the field is missing. The inner optional is nil if the field isn't a
            // version.
            if case .some(nil) = minimum { throw invalid("has a `minimumAppVersion` that isn't a dotted number") }
            versions.append(
                ContentCatalog.Version(
                    minimumAppVersion: minimum ?? nil, manifest: version.manifest,
                    manifestSize: version.manifestSize, archive: version.archive,
                    archiveSize: version.archiveSize, installedSize: version.installedSize))
        }
        self.name = name
        self.unlock = unlock
        isPurgeable = text.storage != nil
        self.versions = versions
    }
}
