package import Foundation
package import TenureCore
import TenureJSON

/// The contents of `content.json`, which describes the asset packs in an app's bundle. An asset pack is a group of
/// files that a purchase unlocks. The packs' files are in the same folder as `content.json`, each at `<pack>/<path>`.
///
/// `tenure content embed` writes the folder. The files are opened in place, and aren't compared with digests: Xcode
/// converts some files (PNG, property lists), so their contents and sizes may differ from `content.json`.
///
/// ```json
/// {"format":1,"packs":[{"name":"grand-piano","entitlement":"piano","minimumAppVersion":"3.2",
///   "version":"<digest of the manifest>","installedSize":1900,"files":[{"path":"samples/c4.wav","size":1900}]}]}
/// ```
package struct EmbeddedContent: Sendable, Hashable {
    /// A file of a pack, as `content.json` describes it.
    package struct File: Sendable, Hashable, Decodable {
        /// The path relative to the pack's folder. `AssetPath` has the rules for paths.
        package let path: String
        /// The size in bytes before Xcode converted the file.
        package let size: Int64
    }

    /// An embedded asset pack.
    package struct Pack: Sendable, Hashable {
        /// The name of the pack and of its folder.
        package let name: String
        /// What a customer must have to open the pack.
        package let unlock: ContentCatalog.Unlock
        /// Whether the catalog allows the system to delete a downloaded copy of the pack to free space.
        let isPurgeable: Bool
        /// The lowest `CFBundleShortVersionString` of apps that can use the pack. Nil if every app can use it.
        package let minimumAppVersion: AppVersion?
        /// The digest of the manifest that a published version with the same files has.
        package let version: ContentDigest
        package let files: [File]

        /// The size of all files in bytes.
        package var installedSize: Int64 { files.reduce(0) { $0 + $1.size } }
    }

    /// The packs, sorted by name.
    package let packs: [Pack]

    /// The name of the JSON file, in the folder that contains the packs' folders.
    package static let fileName = "content.json"

    /// Returns the pack with this name. Nil if no pack has it.
    package subscript(_ name: String) -> Pack? { packs.first { $0.name == name } }

    /// - Throws: `invalidEmbeddedContent` if the packs can't be in one bundle, for example because two have the same
    ///   name.
    package init(packs: [Pack]) throws(ContentError) {
        guard packs.count <= ContentCatalog.maximumPacks else {
            throw .invalidEmbeddedContent(
                "it has \(packs.count) packs; an app has at most \(ContentCatalog.maximumPacks)")
        }
        for pack in packs {
            guard ContentCatalog.isName(pack.name) else {
                throw .invalidEmbeddedContent("`\(pack.name.escapedForDisplay)` isn't a valid name of a pack")
            }
            guard pack.files.count <= PackManifest.maximumFiles else {
                throw .invalidEmbeddedContent("`\(pack.name)` has more than \(PackManifest.maximumFiles) files")
            }
            var total: Int64 = 0
            for file in pack.files {
                if let mistake = PackManifest.mistake(inFile: file.path, size: file.size) {
                    throw .invalidEmbeddedContent(mistake)
                }
                total += file.size
            }
            guard total <= PackManifest.maximumPackSize else {
                throw .invalidEmbeddedContent("`\(pack.name)` has more than 64 GB")
            }
            if let (first, second) = AssetPath.conflict(among: pack.files.lazy.map(\.path)) {
                throw .invalidEmbeddedContent("`\(first)` and `\(second)` can't both exist on every file system")
            }
        }
        let sorted = packs.sorted { $0.name < $1.name }
        if let (first, _) = zip(sorted, sorted.dropFirst()).first(where: { $0.name == $1.name }) {
            throw .invalidEmbeddedContent("it has two packs named `\(first.name)`")
        }
        self.packs = sorted
    }
}

// MARK: JSON

extension EmbeddedContent.Pack {
    /// Creates a pack with the files that a manifest lists.
    package init(
        name: String, unlock: ContentCatalog.Unlock, isPurgeable: Bool, minimumAppVersion: AppVersion?,
        manifest: PackManifest
    ) {
        self.init(
            name: name, unlock: unlock, isPurgeable: isPurgeable, minimumAppVersion: minimumAppVersion,
            version: ContentDigest(of: manifest.json),
            files: manifest.files.map { EmbeddedContent.File(path: $0.path, size: $0.size) })
    }
}

extension EmbeddedContent {
    /// Reads `content.json`.
    ///
    /// - Throws: `invalidEmbeddedContent` if the JSON can't be read, has another `format` than 1, or describes packs
    ///   that can't be in one bundle. Unknown fields are ignored.
    package init(json: Data) throws(ContentError) {
        let text: Text
        do {
            text = try JSONDecoder().decode(Text.self, from: json)
        } catch {
            throw .invalidEmbeddedContent("it can't be read")
        }
        guard text.format == 1 else {
            throw .invalidEmbeddedContent(
                "its format is \(text.format), but this version of Tenure reads only format 1")
        }
        var packs: [Pack] = []
        for pack in text.packs {
            func invalid(_ reason: String) -> ContentError {
                .invalidEmbeddedContent("`\(pack.name.escapedForDisplay)` \(reason)")
            }
            guard let unlock = ContentCatalog.Unlock(entitlement: pack.entitlement, product: pack.product) else {
                throw invalid("must have either `entitlement` or `product`")
            }
            let minimum = pack.minimumAppVersion.map { AppVersion($0) }
            // The outer optional is nil if the field is missing. The inner optional is nil if the field isn't a
            // version.
            if case .some(nil) = minimum { throw invalid("has a `minimumAppVersion` that isn't a dotted number") }
            guard pack.storage == nil || pack.storage == ContentCatalog.Text.purgeable else {
                throw invalid("has an unknown value of `storage`; write `purgeable` or remove it")
            }
            packs.append(
                Pack(
                    name: pack.name, unlock: unlock, isPurgeable: pack.storage != nil,
                    minimumAppVersion: minimum ?? nil, version: pack.version, files: pack.files))
        }
        try self.init(packs: packs)
    }

    /// The contents of `content.json`. The JSON is canonical: the same packs give the same bytes.
    package var json: Data {
        let json = JSONWriter.object { json in
            json.field("format", 1)
            json.objects("packs", packs) { json, pack in
                json.field("name", pack.name)
                pack.unlock.write(to: &json)
                if pack.isPurgeable { json.field("storage", ContentCatalog.Text.purgeable) }
                json.field("minimumAppVersion", ifPresent: pack.minimumAppVersion?.description)
                json.field("version", pack.version)
                json.field("installedSize", pack.installedSize)
                json.objects("files", pack.files) { json, file in
                    json.field("path", file.path)
                    json.field("size", file.size)
                }
            }
        }
        return Data(json)
    }

    /// The file's JSON before it is checked.
    private struct Text: Decodable {
        let format: Int
        let packs: [Entry]

        struct Entry: Decodable {
            let name: String
            let entitlement: String?
            let product: String?
            let storage: String?
            let minimumAppVersion: String?
            let version: ContentDigest
            let files: [File]
        }
    }
}
