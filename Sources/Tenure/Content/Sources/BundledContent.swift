import Foundation
import TenureContent

/// A folder in the app's bundle. The app opens the files of its packs in place.
struct BundledContent: Tenure.ContentSource {
    let folder: URL

    /// An identifier without the bundle's path, because that path may change between launches.
    var identifier: String { "embedded:\(folder.lastPathComponent)" }

    func list() -> [Tenure.ContentListing] { [.folder(folder)] }

    func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) throws {
        throw Tenure.ContentSourceError.missing
    }

    /// Does nothing, because an app can't delete files of its bundle.
    func remove(_ pack: String) {}
}

/// A pack in a folder that `tenure content embed` wrote.
struct EmbeddedPack: Sendable {
    let pack: EmbeddedContent.Pack
    /// The folder with the pack's files.
    let path: String

    /// Returns the packs of a folder by name. Their files aren't verified, because Xcode converts some of them.
    ///
    /// - Throws: `ContentError` if the folder has no `content.json` that can be used.
    static func all(in folder: URL) throws(ContentError) -> [String: EmbeddedPack] {
        guard let json = Disk.contents(of: folder.path + "/" + EmbeddedContent.fileName, maximumSize: maximumTextSize)
        else { throw .invalidEmbeddedContent("there is no such file in `\(folder.path)`") }
        let content = try EmbeddedContent(json: json)
        let packs = content.packs.map { ($0.name, EmbeddedPack(pack: $0, path: folder.path + "/" + $0.name)) }
        return Dictionary(packs) { first, _ in first }
    }

    /// The maximum size of `content.json`, in bytes.
    private static let maximumTextSize = 64 << 20
}
