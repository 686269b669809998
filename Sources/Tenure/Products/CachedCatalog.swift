package import Foundation
import TenureAPI

/// The service's last list of products, stored for the next start.
package struct CachedCatalog: Sendable, Hashable, Codable {
    /// The body of the response.
    package var text: String
    /// The `ETag` of the response.
    package var tag: String?
    /// When it was fetched, by this device's clock.
    package var askedAt: Date

    /// The maximum size in bytes, because the keychain isn't for large data.
    static let largestText = 256 * 1024

    package init(text: String, tag: String? = nil, askedAt: Date) {
        self.text = text
        self.tag = tag
        self.askedAt = askedAt
    }

    /// Nil if it can't be read.
    var catalog: Tenure.ProductCatalog? {
        (try? JSONDecoder().decode(ProductsResponse.self, from: Data(text.utf8))).map { Tenure.ProductCatalog($0) }
    }
}
