import Foundation
package import TenureCore

/// A customer whom a rehearsal counts: how reports name the customer, and the rows and bars in which reports count the
/// customer.
package struct RehearsedCustomer: Sendable, Hashable {
    /// An ID from Apple, from the evidence file, or from the database. Only reports with IDs show it.
    let id: String
    /// The smallest `id` in the customer's lines of the evidence file; nil if no line has an `id`.
    let exportedID: String?
    /// The hash of the ID. The customers with the lowest ranks become examples.
    let rank: UInt64
    /// The platform, version and month of getting the app.
    let place: Place
    /// How the customer first got the app; nil if the evidence doesn't show it.
    let acquisition: Acquisition?

    package init(id: String, exportedID: String? = nil, _ evidence: Evidence) {
        self.id = id
        self.exportedID = exportedID
        rank = StableHash.of(id)
        place = Place(of: evidence)
        acquisition = evidence.acquisitions.first
    }
}
