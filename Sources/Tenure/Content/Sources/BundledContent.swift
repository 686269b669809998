import Foundation
import TenureContent

/// A folder in the app's bundle. Its packs open in place.
struct BundledContent: Tenure.ContentSource {
    let folder: URL

    /// The path of a bundle differs from launch to launch.
    var identifier: String { "embedded:\(folder.lastPathComponent)" }

    func list() -> [Tenure.ContentListing] { [.folder(folder)] }

    func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) throws {
        throw Tenure.ContentSourceError.missing
    }

    func remove(_ pack: String) {}
}

/// A pack in a folder that `tenure content embed` wrote.
struct EmbeddedPack: Sendable {
    let pack: EmbeddedContent.Pack
    /// The folder with its files.
    let path: String

    /// The packs of a folder, by name. They aren't hashed: Xcode converts some kinds of files.
    ///
    /// - Throws: `ContentError` if the folder has no `content.json` that can be used.
    static func all(in folder: URL) throws(ContentError) -> [String: EmbeddedPack] {
        guard let json = Disk.contents(of: folder.path + "/" + EmbeddedContent.fileName, most: largestText) else {
            throw .invalidEmbeddedContent("`\(folder.path)` has no such file")
        }
        let content = try EmbeddedContent(json: json)
        return Dictionary(
            content.packs.map { ($0.name, EmbeddedPack(pack: $0, path: folder.path + "/" + $0.name)) }
        ) { first, _ in first }
    }

    /// In bytes.
    private static let largestText = 64 << 20
}
