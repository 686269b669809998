package import Foundation
package import TenureContent
import TenureCore
import TenureJSON

/// The contents of a catalog without a check of its signature, for `list` and `prune`. Clients never use it.
package struct UnverifiedCatalog: Sendable {
    package let catalog: ContentCatalog
    package let counter: Int64
    package let issuedAt: Date

    package init(_ text: some Collection<UInt8>) throws(ContentError) {
        guard text.count <= SignedCatalog.maximumTextSize else {
            throw .invalidCatalog("it has \(text.count) bytes; a catalog has at most \(SignedCatalog.maximumTextSize)")
        }
        let parts = Array(text).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64.urlSafe.decode(parts[1]) else {
            throw .invalidCatalog("it isn't a compact JWS")
        }
        let contents = try SignedCatalog.Contents(payload: Data(payload))
        catalog = contents.catalog
        counter = contents.counter
        issuedAt = contents.issuedAt
    }
}
