import Foundation
package import TenureCore

/// A customer whom a rehearsal (a dry run of a policy) counts: how reports name the customer, and the place under which
/// they count the customer.
package struct RehearsedCustomer: Sendable, Hashable {
    /// An ID from Apple, from the evidence file, or from the database. Only reports with IDs show it.
    let id: String
    /// The smallest `id` in the customer's lines of the evidence file; nil if no line has an `id`.
    let exportedID: String?
    /// The hash of the ID. The customers with the lowest ranks become examples.
    let rank: UInt64
    /// The platform, version and month of getting the app.
    let place: Place
    /// The version with which the customer first got the app, as signed; nil if it is unknown.
    let originalAppVersion: String?
    /// When the customer first got the app; nil if it is unknown.
    let originalPurchaseDate: Date?

    package init(id: String, exportedID: String? = nil, _ evidence: Evidence) {
        self.id = id
        self.exportedID = exportedID
        rank = StableHash.of(id)
        place = Place(of: evidence)
        let acquisition = evidence.acquisitions.first
        originalAppVersion = acquisition?.originalAppVersion
        originalPurchaseDate = acquisition?.originalPurchaseDate
    }

    /// Whether this customer becomes an example rather than the other one.
    func precedes(_ other: RehearsedCustomer) -> Bool { (rank, id) < (other.rank, other.id) }
}
