package import Foundation
import TenureAPI

/// What the service sells, as it said it last, for the next start.
package struct CachedCatalog: Sendable, Hashable, Codable {
    /// The body of its answer.
    package var text: String
    /// Its `ETag`.
    package var tag: String?
    /// By this device's clock.
    package var askedAt: Date

    /// More has no place in a keychain. In bytes.
    static let largestText = 256 * 1024

    package init(text: String, tag: String? = nil, askedAt: Date) {
        self.text = text
        self.tag = tag
        self.askedAt = askedAt
    }

    /// Nil where it cannot be read.
    var catalog: Tenure.ProductCatalog? {
        (try? JSONDecoder().decode(ProductsResponse.self, from: Data(text.utf8))).map { Tenure.ProductCatalog($0) }
    }
}
