import Foundation
package import TenureCore

/// Who is counted: by what a report may call them, and where they stand in it.
package struct RehearsedCustomer: Sendable, Hashable {
    /// Told only to who asks for it: an id of Apple, of the exporter, or of the record.
    package let id: String
    /// What the exporter of the evidence called them.
    package let exportedID: String?
    /// By which examples are chosen; of the id.
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
