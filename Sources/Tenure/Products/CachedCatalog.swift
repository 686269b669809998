package import Foundation
import TenureAPI

/// The service's last list of products, stored for the next start.
package struct CachedCatalog: Sendable, Hashable, Codable {
    /// The body of the response.
    package var text: String
    /// The `ETag` of the response.
    package var tag: String?
    /// The time when the list was last fetched or confirmed as unchanged, by this device's clock.
    package var fetchedAt: Date

    /// The maximum size in bytes, because the keychain isn't for large data.
    static let maximumTextSize = 256 * 1024

    package init(text: String, tag: String? = nil, fetchedAt: Date) {
        self.text = text
        self.tag = tag
        self.fetchedAt = fetchedAt
    }

    /// The catalog in `text`. Nil if it can't be read.
    var catalog: Tenure.ProductCatalog? {
        (try? JSONDecoder().decode(ProductsResponse.self, from: Data(text.utf8))).map { Tenure.ProductCatalog($0) }
    }
}
