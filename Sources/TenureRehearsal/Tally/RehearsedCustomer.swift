import Foundation
package import TenureCore

/// A counted customer: the name and the place in the report.
package struct RehearsedCustomer: Sendable, Hashable {
    /// An ID from Apple, from the evidence file, or from the database. Only reports with IDs show it.
    let id: String
    /// The smallest `id` in the customer's lines of the evidence file; nil if no line has an `id`.
    let exportedID: String?
    /// The hash of the ID. The customers with the lowest ranks become examples.
    let rank: UInt64
    let place: Place
    /// The first acquisition; nil if there is no acquisition.
    let acquisition: Acquisition?

    package init(id: String, exportedID: String? = nil, _ evidence: Evidence) {
        self.id = id
        self.exportedID = exportedID
        rank = StableHash.of(id)
        place = Place(of: evidence)
        acquisition = evidence.acquisitions.first
    }
}
