import Foundation
package import TenureCore

/// A counted customer: their possible names in a report, and their place in it.
package struct RehearsedCustomer: Sendable, Hashable {
    /// Only for reports with IDs: an ID of Apple, of the exporter, or of the database.
    package let id: String
    /// The exporter's ID.
    package let exportedID: String?
    /// The hash of the ID, by which examples are chosen.
    package let rank: UInt64
    package let place: Place
    /// Of the first acquisition.
    package let acquisition: Acquisition?

    package init(id: String, exportedID: String? = nil, _ evidence: Evidence) {
        self.id = id
        self.exportedID = exportedID
        rank = StableHash.of(id)
        place = Place(of: evidence)
        acquisition = evidence.acquisitions.first
    }

    /// The order in which customers become examples.
    func precedes(_ other: (rank: UInt64, id: String)) -> Bool {
        rank != other.rank ? rank < other.rank : id < other.id
    }
}
