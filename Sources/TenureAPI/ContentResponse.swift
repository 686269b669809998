package import Foundation
import TenureJSON

/// The content catalog and the customer's download links: the response to `GET /v1/content`.
package struct ContentResponse: Sendable, Hashable, Decodable {
    /// The download links of one version of an asset pack: files that a purchase unlocks, versioned together.
    package struct Links: Sendable, Hashable, Decodable {
        /// The URL of the manifest, which lists the files. The URL may be relative to the service's URL.
        package let manifest: String
        /// The URL of the archive with all files. The URL may be relative to the service's URL.
        package let archive: String
        /// The time at which both links expire.
        package let expiresAt: Date

        /// Creates the links of one version.
        package init(manifest: String, archive: String, expiresAt: Date) {
            self.manifest = manifest
            self.archive = archive
            self.expiresAt = expiresAt
        }

        enum CodingKeys: String, CodingKey { case manifest, archive, expiresAt }
    }

    /// The signed content catalog, which lists all packs and versions, as a compact JWS. Apps verify it with their
    /// pinned keys.
    package let catalog: String
    /// The links by pack name: each pack that the customer may use, in the version for the app version in the request.
    package let packs: [String: Links]

    /// Creates a response.
    package init(catalog: String, packs: [String: Links]) {
        self.catalog = catalog
        self.packs = packs
    }
}

extension JSONWriter {
    /// Writes the response, with the packs sorted by name.
    package mutating func value(_ content: ContentResponse) {
        object { json in
            json.field("catalog", content.catalog)
            json.object("packs") { json in
                for (name, links) in content.packs.sorted(by: { $0.key < $1.key }) {
                    json.object(name) { json in
                        json.field(ContentResponse.Links.CodingKeys.manifest, links.manifest)
                        json.field(ContentResponse.Links.CodingKeys.archive, links.archive)
                        json.field(ContentResponse.Links.CodingKeys.expiresAt, links.expiresAt)
                    }
                }
            }
        }
    }
}
