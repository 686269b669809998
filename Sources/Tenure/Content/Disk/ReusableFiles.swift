import Foundation
import TenureContent

/// Contents that are on the device already, under whatever name.
struct ReusableFiles {
    private var paths: [Content: [(pack: InstalledPack, file: PackManifest.File)]] = [:]

    private struct Content: Hashable {
        let digest: ContentDigest
        let size: Int64
    }

    init(_ packs: [InstalledPack]) {
        for pack in packs {
            for file in pack.manifest.files {
                paths[Content(digest: file.digest, size: file.size), default: []].append((pack, file))
            }
        }
    }

    /// A file with these contents, which are read: a damaged file isn't passed on.
    func path(of file: PackManifest.File) -> String? {
        paths[Content(digest: file.digest, size: file.size)]?.first { $0.pack.isIntact($0.file) }
            .map { $0.pack.path(of: $0.file) }
    }
}
