import Foundation
import TenureCore

/// Why two customers are one.
package enum MergeReason: String, Sendable, Hashable {
    case signedTogether
    case sameUser
    case support
}

extension Ledger {
    /// What was written of `other` stays theirs, so that it can be undone, and counts for `customer` from now on.
    func merge(
        _ other: Customer, into customer: Customer, because reason: MergeReason, actor: String?
    ) throws(StoreError) -> Customer {
        try session.execute(
            "UPDATE customers SET merged_into = $1, next_end = NULL WHERE id = $2",
            [.integer(customer.id), .integer(other.id)])
        try append(
            .merged, to: customer, actor: actor,
            detail: ["customer": other.publicID, "because": reason.rawValue])
        try tell(
            Message(.customerMerged, ["because": reason.rawValue, "merged": other.publicID]), of: customer)
        var facts = customer.facts
        facts.add(other.facts)
        return try update(customer, to: facts)
    }

    func areSeparated(_ one: Int64, _ other: Int64) throws(StoreError) -> Bool {
        let (ones, others) = (try group(of: one), try group(of: other))
        for one in ones {
            for other in others {
                let row = try session.row(
                    "SELECT 1 FROM separations WHERE first = $1 AND second = $2",
                    [.integer(min(one, other)), .integer(max(one, other))])
                if row != nil { return true }
            }
        }
        return false
    }
}
